// `npm run dev` takes an order, shows its mails and sends none, and goes on when a broken file is mended.
// Not in `npm test`: it breaks a source file, of a copy of the project.
import { spawn } from 'node:child_process'
import { cp, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { aDatabase } from '../support/fixtures.ts'
import { listen } from '../support/listen.ts'
import { freePort } from '../support/server-process.ts'
import { runProgram } from '../support/staff-command.ts'

async function aCopyOfTheProject() {
  const copy = await aFolder('quvera-dev-', tmpdir())
  for (const part of ['server', 'shared', 'client', 'dist', 'prisma', 'package.json', 'vite.config.ts'])
    await cp(part, join(copy, part), { recursive: true })
  await symlink(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
  return copy
}

it('npm run dev takes an order, sends no mail and shows both, and starts again when a broken file is mended', async () => {
  const copy = await aCopyOfTheProject()
  const resend = await startFakeResend()
  atEnd(resend.close)
  const env = { PORT: String(await freePort()), ...sendingThrough(resend), ...(await aDatabase()) }
  const dev = spawn(process.execPath, ['server/dev.ts'], {
    cwd: copy,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((done) => dev.once('close', done))
  atEnd(() => {
    dev.kill()
    return ended
  })
  let output = ''
  for (const stream of [dev.stdout, dev.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (output += chunk))
  const addresses = () => [...output.matchAll(/ is at (http:\/\/localhost:\d+)/g)].map(([, address = '']) => address)
  await eventually(() => expect(addresses()).toHaveLength(1))
  const [url = ''] = addresses()

  expect((await submit(url, anOrder({ name: 'Asha & Sons' }))).status).toBe(200)
  const mails = /Mails.* are at (\S+)/.exec(output)?.[1] ?? ''
  await eventually(async () => {
    const page = await (await fetch(mails)).text()
    expect(page.match(/<iframe sandbox/g)).toHaveLength(2)
    expect(page).toContain('Asha &amp;amp; Sons') // of the mail's HTML, within an attribute
  })

  const file = join(copy, 'server/log.ts')
  const source = await readFile(file, 'utf8')
  // Most editors write a new file and put it in the place of the old one.
  const save = async (content: string) => {
    await writeFile(join(copy, 'saved'), content)
    await rename(join(copy, 'saved'), file)
  }
  await save('const = broken')
  await eventually(() => expect(output).toContain('The server has exited'))
  await save(source)
  await eventually(() => expect(addresses()).toHaveLength(2))
  expect((await submit(url, anOrder())).status).toBe(200)
  expect(resend.calls.all).toBe(0) // of mails that were due since the first order
})

it('where another program has its port it says so and ends: its pages would send enquiries there', async () => {
  const other = await listen(createServer())
  atEnd(other.close)
  const port = Number(new URL(other.url).port)
  const { code, stderr } = await runProgram('server/dev.ts', [], { PORT: String(port) })
  expect([code, stderr]).toEqual([
    1,
    `Port ${port} is in use, perhaps by a site that runs. Stop it, or choose another port: PORT=${port + 1} npm run dev\n`,
  ])
})
