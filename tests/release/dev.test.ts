// npm run dev takes an order, shows its mails and sends none, and starts the server again when a broken file is mended.
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { startFakeReceiver } from '../support/fake-receiver.ts'
import { startFakeResend } from '../support/fake-resend.ts'
import { freePort } from '../support/server-process.ts'
import { createTestDatabase } from '../support/test-database.ts'

const project = resolve(import.meta.dirname, '../..')

it('npm run dev sends the form to PORT, and starts the server again when a broken file is mended', async () => {
  const copy = await mkdtemp(join(tmpdir(), 'quvera-dev-'))
  atEnd(() => rm(copy, { recursive: true, force: true }))
  // With the site that `npm start` has built.
  for (const part of ['server', 'shared', 'client', 'dist', 'prisma', 'package.json', 'vite.config.ts'])
    await cp(join(project, part), join(copy, part), { recursive: true })
  await symlink(join(project, 'node_modules'), join(copy, 'node_modules'))
  const database = await createTestDatabase()
  atEnd(database.drop)
  const [resend, receiver] = await Promise.all([startFakeResend(), startFakeReceiver()])
  atEnd(resend.close)
  atEnd(receiver.close)
  const ofTheSite = {
    RESEND_API_KEY: 're_test',
    RESEND_BASE_URL: resend.url,
    MAIL_FROM: 'site@quvera.test',
    STAFF_EMAILS: 'staff@quvera.test',
    NOTIFY_URL: receiver.url,
  }
  const dev = spawn(process.execPath, ['server/dev.ts'], {
    cwd: copy,
    env: { PATH: process.env.PATH, PORT: String(await freePort()), ...ofTheSite, ...database.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((done) => dev.once('close', done))
  atEnd(() => {
    dev.kill()
    return ended
  })
  let output = ''
  for (const stream of [dev.stdout, dev.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (output += chunk))
  const started = () => [...output.matchAll(/ is at (http:\/\/localhost:\d+)/g)]
  await eventually(() => started().length === 1, 60_000)
  const url = started()[0]?.[1] ?? ''
  expect((await submit(url, anOrder({ name: 'Asha & Sons' }))).status).toBe(200)
  const mails = /Mails.* are at (\S+)/.exec(output)?.[1] ?? ''
  await eventually(async () => {
    const page = await (await fetch(mails)).text()
    expect(page.match(/<iframe sandbox/g)).toHaveLength(2)
    expect(page).toContain('Asha &amp;amp; Sons') // of the mail's HTML, within an attribute
  })
  await new Promise((done) => setTimeout(done, 3000)) // a sender looks for mails each second
  expect([resend.calls.all, receiver.posts]).toEqual([0, []])

  const file = join(copy, 'server/log.ts')
  const source = await readFile(file, 'utf8')
  // Most editors write a new file and put it in the place of the old one.
  const save = async (content: string) => {
    await writeFile(`${copy}/saved`, content)
    await rename(`${copy}/saved`, file)
  }
  await save('const = broken')
  await eventually(() => expect(output).toContain('The server has exited'), 60_000)
  await save(source)
  await eventually(() => started().length === 2, 60_000)
  expect((await submit(url, anOrder())).status).toBe(200)
}, 120_000)
