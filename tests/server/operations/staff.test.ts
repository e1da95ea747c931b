// The staff command has help, answers wrong usage in one line, and opens no database that nobody has named.
// `staff check` shows every variable and what is wrong, and no secret.

import { copyFile, readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { envSchema } from '../../../server/env.ts'
import { brand } from '../../../shared/brand.ts'
import { aFolder } from '../../support/a-folder.ts'
import { STAFF } from '../../support/fake-resend.ts'
import { anApp, aResend, aSite } from '../../support/fixtures.ts'
import { freePort } from '../../support/server-process.ts'
import { runProgram, runShell, staff } from '../../support/staff-command.ts'

describe('the staff command', () => {
  it('has help, and answers wrong usage in one line with exit code 2', async () => {
    for (const args of [['--help'], ['export', '--help']])
      expect(await staff(args, {})).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^Usage: /) })
    const wrong = [
      '',
      'find asha',
      'check --mail nobody',
      'erase',
      'erase --older-than 2y',
      'erase QV-7K3M9P --older-than 24m',
      'export --from 2026-02-31',
      'export --product Aspirin',
      'export --person a@b.in --from 2026-11-01',
      'mails rety',
    ].map((words) => words.split(' ').filter(Boolean))
    const answers = await Promise.all(wrong.map((args) => staff(args, { DATA_DIR: '/nowhere' })))
    for (const [index, answer] of answers.entries()) {
      expect(answer, wrong[index]?.join(' ')).toMatchObject({ code: 2, stdout: '' })
      expect(answer.stderr.trimEnd()).toMatch(/^[^\n]+[^.]\. See --help\.$/)
    }
  })

  it('`sign-in` says where no site opens its link, as when the site was started with another PORT', async () => {
    const app = await anApp({ mails: false })
    const env = { ...app.env, STAFF_EMAILS: STAFF }
    const right = await staff(['sign-in'], { ...env, PORT: new URL(app.url).port })
    expect(right).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/\/staff\/enter\?token=\S+\n$/) })
    const PORT = String(await freePort())
    const link = await staff(['sign-in'], { ...env, PORT })
    expect(link).toMatchObject({ code: 0, stdout: expect.stringContaining(`http://localhost:${PORT}/staff/enter?`) })
    expect(link.stderr).toBe(
      `No site opens this link at http://localhost:${PORT} now. It goes by PORT, which is ${PORT} for this command. Start the site, or type before the command what the site was started with, such as PORT=8080.\n`,
    )
    // Another site, with a database of its own, does not know it.
    const other = await anApp({ mails: false })
    expect((await staff(['sign-in'], { ...env, PORT: new URL(other.url).port })).stderr).toMatch(/^No site opens this/)
    // Whether the mailed address of the site is reachable from here says nothing.
    expect((await staff(['sign-in'], { ...env, PUBLIC_URL: 'https://www.quvera.test' })).stderr).toBe('')
  })

  it('says that npm has read an option itself, where -- is missing', async () => {
    const { code, stderr } = await staff(['erase'], { npm_config_older_than: '24m' })
    expect([code, stderr]).toEqual([
      2,
      'npm has read --older-than itself. Type -- before the command: npm run -s staff -- mails. See --help.\n',
    ])
  })
})

describe('a database that nobody named', () => {
  /** A staff command as npm starts it, in a folder that may have a .env. */
  const run = (folder: string, command: string, env: Record<string, string>) =>
    runShell(
      `cd '${folder}' && node --import '${resolve('server/dotenv.mjs')}' '${resolve('dist/server/staff.js')}' ${command}`,
      env,
    )

  it('is not the embedded one where DATABASE_URL is set but empty', async () => {
    const folder = await aFolder('quvera-meant-')
    const file = join(folder, 'backup.gz')
    await staff(['backup', file], (await aSite()).env)
    for (const command of [['migrate'], ['restore', file]]) {
      const { code, stderr } = await staff(command, { DATABASE_URL: '' })
      expect([code, stderr], command[0]).toEqual([
        1,
        "DATABASE_URL is set but empty. Name the database: DATABASE_URL=… with the login of the tables' owner, or DATA_DIR=.data for the embedded database.\n",
      ])
    }
  })

  it('is not the DATA_DIR of a copied .env.example either, unless the command names it', async () => {
    const folder = await aFolder('quvera-copied-')
    await copyFile('.env.example', join(folder, '.env'))
    for (const env of [{}, { DATABASE_URL: '' }])
      expect(await run(folder, 'migrate', env)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('or DATA_DIR=.data for'),
      })
    expect(await readdir(folder)).toEqual(['.env'])
    expect(await run(folder, 'migrate', { DATA_DIR: '.data' })).toMatchObject({ code: 0 })
  })

  it('is the one that is typed before a command, not the one in .env', async () => {
    const folder = await aFolder('quvera-typed-')
    const inFile = 'postgresql://file@127.0.0.1:1/file'
    await writeFile(join(folder, '.env'), `DATABASE_URL=${inFile}\nDIRECT_DATABASE_URL=${inFile}\n`)
    const config = async (env: Record<string, string>) => {
      const { stdout } = await run(folder, 'check', env)
      return stdout.match(/(?<=DATABASE_URL +)\S+/g)
    }
    expect(await config({})).toEqual([inFile, inFile])
    expect(await config({ DATA_DIR: '.data' })).toEqual(['-', '-'])
    const typed = 'postgresql://typed@127.0.0.1:1/typed'
    expect(await config({ DATABASE_URL: typed })).toEqual([typed, '-'])
  })

  it('is that of the file that ENV_FILE names, which has to be there', async () => {
    const folder = await aFolder('quvera-env-')
    const file = join(folder, 'site.env')
    await writeFile(file, 'DATABASE_URL=postgresql://file@127.0.0.1:1/file\n')
    const check = (ENV_FILE: string) => run(folder, 'check', { ENV_FILE })
    expect((await check(file)).stdout).toContain('postgresql://file@127.0.0.1:1/file')
    const { code, stderr } = await check(`${file}.lost`)
    expect([code, stderr]).toEqual([1, `ENV_FILE names ${file}.lost, which is not there.\n`])
  })
})

it('the seed fills an empty database, leaves no mail pending, and refuses a database with enquiries', async () => {
  const { env, db } = await aSite()
  expect(await runProgram('prisma/seed.ts', [], env)).toMatchObject({ code: 0 })
  expect([await db.enquiry.count(), await db.mail.count({ where: { status: 'Pending' } })]).toEqual([60, 0])
  const again = await runProgram('prisma/seed.ts', [], env)
  expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/^The database holds enquiries[^\n]+\n$/)])
})

it('`check --mail` sends one mail and prints what Resend answered', async () => {
  const resend = await aResend()
  const check = (env = {}) => staff(['check', '--mail', 'me@quvera.example'], env)
  const env = { RESEND_API_KEY: 're_test', RESEND_BASE_URL: resend.url }
  const answered = /Resend accepted the mail .* id [0-9a-f-]{36}/
  expect(await check(env)).toMatchObject({ code: 0, stdout: expect.stringMatching(answered) })
  expect(resend.mails).toMatchObject([{ to: ['me@quvera.example'] }])
  resend.behaviour = { status: 403, name: 'validation_error' }
  const refused = /^Not sent .*: 403 validation_error: /
  expect(await check(env)).toMatchObject({ code: 1, stderr: expect.stringMatching(refused) })
  expect((await check()).stderr).toBe('RESEND_API_KEY is not set, so no mail can be sent.\n')
})

it('`staff check` shows each variable in a line, and no secret', async () => {
  const secrets = {
    RESEND_API_KEY: 're_topsecret1',
    RESEND_WEBHOOK_SECRET: 'whsec_topsecret2',
    NOTIFY_URL: 'https://hooks.chat.example/topsecret3',
    NOTIFY_SECRET: `whsec_${Buffer.from('topsecret'.repeat(3)).toString('base64')}`,
    DATABASE_URL: 'postgresql://quvera_app:topsecret4@topsecret4@db.example:5432/quvera?sslmode=require',
    DIRECT_DATABASE_URL: 'postgresql://quvera_app@db.example/quvera?password=topsecret5&sslmode=require',
  }
  const env = { ...secrets, STAFF_EMAILS: ' a@x.in, b@x.in', MAIL_FROM: 'a@x.example', NOTIFY_FORMAT: 'json' }
  const { code, stdout, stderr } = await staff(['check'], env)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^The database cannot be reached: [^\n]+\n$/),
  })
  expect(stderr).not.toContain('topsecret')
  const lines = new Map(stdout.split('\n').map((line) => [line.split(' ')[0], line.replace(/ +/g, ' ')]))
  for (const name of Object.keys(envSchema.shape)) expect([...lines.keys()]).toContain(name)
  expect(stdout).not.toMatch(/topsecret|dG9wc2Vj/)
  expect(stdout).toContain('Warning: PUBLIC_URL is not set')
  expect(stdout).toContain('Warning: RESEND_API_KEY is set, but MAIL_FROM is still a stand-in (a@x.example)')
  expect(stdout).toContain(
    'Warning: NOTIFY_FORMAT is json: name, address and number of each visitor go to https://hooks.chat.example,',
  )
  expect(stdout).not.toContain('Warning: RESEND_WEBHOOK_SECRET')
  const keyed = await staff(['check'], {
    RESEND_API_KEY: secrets.RESEND_API_KEY,
    MAIL_FROM: 'a@x.in',
    STAFF_EMAILS: 'a@x.in',
  })
  expect(keyed.stdout).toContain('Warning: RESEND_WEBHOOK_SECRET is not set: nobody sees when a mail bounces')
  const keyless = await staff(['check'], { DATABASE_URL: secrets.DATABASE_URL })
  expect(keyless.stdout).toContain('Warning: RESEND_API_KEY is not set: mails wait')
  expect(keyed.stdout).not.toContain('RESEND_API_KEY is not set')
  for (const said of [keyed.stdout, keyless.stdout]) {
    const ofStandIn = said.split('\n').filter((line) => line.startsWith('Warning: ') && line.includes(brand.email))
    expect(ofStandIn).toHaveLength(brand.email.endsWith('.example') ? 1 : 0)
  }
  expect(lines.get('STAFF_EMAILS')).toBe('STAFF_EMAILS a@x.in,b@x.in')
  expect(lines.get('PORT')).toBe('PORT 3000 default')
  expect(lines.get('PUBLIC_URL')).toBe('PUBLIC_URL - default')
  expect(lines.get('RESEND_API_KEY')).toBe('RESEND_API_KEY set, hidden')
  expect(lines.get('NOTIFY_URL')).toBe('NOTIFY_URL https://hooks.chat.example/…')
  expect(lines.get('DATABASE_URL')).toBe(
    'DATABASE_URL postgresql://quvera_app:hidden@db.example:5432/quvera?sslmode=require',
  )
})
