// A start that cannot succeed ends with one line that says why. A database that is not there yet is waited for.
// A staff command that looks for enquiries makes no database.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { messages } from '../../shared/order.ts'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { aDatabase, anOpenDatabase, aServer } from '../support/fixtures.ts'
import { freePort } from '../support/server-process.ts'
import { runProgram, staff } from '../support/staff-command.ts'
import { administer } from '../support/test-database.ts'

it.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('%s during the start ends it at once', async (signal, code) => {
  const silent = createServer() // takes connections and never answers, as a database behind a broken network
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
  atEnd(() => silent.close())
  const { port } = silent.address() as { port: number }
  const connected = new Promise((done) => silent.once('connection', done))
  const env = { DATABASE_URL: `postgresql://nobody@127.0.0.1:${port}/none` }
  const server = await aServer(env, { waitUntilReady: false })
  await connected
  expect(await server.stop(signal)).toEqual({ code, signal: null }) // and not when the database has answered
})

describe('a site whose database is down when it starts', () => {
  /** A site on a database that nothing leads to before `comeUp`. */
  async function aSiteTooEarly() {
    const { DATABASE_URL } = await aDatabase()
    const { searchParams, pathname } = new URL(DATABASE_URL)
    const port = await freePort()
    const env = { DATABASE_URL: `postgresql://postgres:secret@127.0.0.1:${port}${pathname}` }
    const site = await aServer(env, { waitUntilReady: false })
    const status = async (path: string) => (await fetch(site.url + path)).status
    await eventually(async () => expect(await status('/readyz')).toBe(503))
    const server = createServer((client) => {
      const database = connect(`${searchParams.get('host')}/.s.PGSQL.5432`)
      client.on('error', () => database.destroy())
      database.on('error', () => client.destroy())
      client.pipe(database).pipe(client)
    })
    atEnd(() => server.close())
    const comeUp = () => new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
    return { DATABASE_URL, site, status, comeUp }
  }

  it('serves its pages, refuses orders in words, and stores them once it is there', async () => {
    const { site, status, comeUp } = await aSiteTooEarly()
    expect(await status('/')).toBe(200)
    expect(await status('/healthz')).toBe(200)
    expect(await submit(site.url, anOrder())).toMatchObject({ status: 503, message: messages.failed })
    await comeUp()
    await eventually(async () => expect(await status('/readyz')).toBe(200))
    expect((await submit(site.url, anOrder())).status).toBe(200)
    const errors = site.stdout().match(/^.*"level":"error".*$/gm) ?? []
    expect(errors).toEqual([
      expect.stringMatching(
        /The database cannot be reached: connect ECONNREFUSED .*\. Check DATABASE_URL\. Until it can be reached, pages are served and orders are refused/,
      ),
      expect.stringContaining('enquiries cannot be stored'),
    ])
    expect(site.stdout()).not.toContain('secret')
    expect(await site.stop()).toEqual({ code: 0, signal: null })
  })

  it('ends with the sentence that says what is wrong, when it is there and not as it must be', async () => {
    const { DATABASE_URL, site, comeUp } = await aSiteTooEarly()
    await administer(DATABASE_URL, `UPDATE _prisma_migrations SET checksum = 'other'`)
    await comeUp()
    expect(await site.exited).toEqual({ code: 1, signal: null })
    expect(site.stderr()).toMatch(/^Migration \d+_tables was edited after it was applied[^\n]*\n$/)
  })
})

it.each<[Record<string, string>, says: RegExp]>([
  [{}, /^DATA_DIR \/dev\/null\/nope cannot be made or used: .*\n$/],
  [{ DATA_DIR: '/proc/nope/data' }, /^DATA_DIR \/proc\/nope\/data cannot be made or used: .*\n$/],
  [
    { RESEND_API_KEY: 're_test', MAIL_FROM: 'Quvera <a@quvera.example>', STAFF_EMAILS: 'a@quvera.test' },
    /^RESEND_API_KEY is set, but MAIL_FROM is still a stand-in .*\n$/,
  ],
  [
    { RESEND_API_KEY: 're_test', MAIL_FROM: 'a@quvera.test', STAFF_EMAILS: 'a@quvera.test,b@quvera.example' },
    /^RESEND_API_KEY is set, but STAFF_EMAILS is still a stand-in .*\n$/,
  ],
])('what is wrong ends the start with one line that names it: %j', async (env, says) => {
  const server = await aServer({ DATA_DIR: '/dev/null/nope', ...env }, { waitUntilReady: false })
  expect(await server.exited).toEqual({ code: 1, signal: null })
  expect(server.stderr()).toMatch(says)
})

describe('staff commands and Studio open what is there', () => {
  it('and say in which folder they found nothing, which stays as it is', async () => {
    const folder = await aFolder('quvera-start-')
    const commands = ['export', 'subscribers', 'mails retry --yes', 'erase --older-than 24m --yes', 'backup -', 'check']
    const ran = await Promise.all([
      ...commands.map((words) => staff(words.split(' '), { DATA_DIR: join(folder, 'typo') })),
      runProgram('server/studio.ts', [], { DATA_DIR: join(folder, 'typo') }),
      staff(['export'], { DATA_DIR: folder }),
    ])
    for (const { code, stdout, stderr } of ran) {
      expect({ code, stdout: stdout.replace(/^HOST .*/s, '') }).toEqual({ code: 1, stdout: '' }) // `check` shows the settings first
      expect(stderr).toMatch(new RegExp(`^There is no database in ${folder}(/typo)? \\(DATA_DIR\\)\\. [^\\n]*\\n$`))
    }
    expect(await readdir(folder)).toEqual([])
  })

  it('and `migrate` makes one, also where a first start was cut short', async () => {
    const dataDir = join(await aFolder('quvera-start-'), 'new')
    await mkdir(join(dataDir, 'postgres.new/base'), { recursive: true })
    await writeFile(join(dataDir, 'postgres.new/PG_VERSION'), '18\n')
    expect(await staff(['migrate'], { DATA_DIR: dataDir })).toMatchObject({ code: 0 })
    expect(await staff(['export'], { DATA_DIR: dataDir })).toMatchObject({ code: 0 })
    expect((await readdir(dataDir)).sort()).toEqual(['owner.lock', 'postgres'])
  })

  it('and say in which database they found no tables', async () => {
    const { DATABASE_URL = '' } = await aDatabase()
    await administer(DATABASE_URL, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public')
    const { code, stderr } = await staff(['export'], { DATABASE_URL })
    expect(code).toBe(1)
    const { searchParams, pathname } = new URL(DATABASE_URL)
    expect(stderr).toMatch(
      `The database ${pathname.slice(1)} at ${searchParams.get('host')}:5432 (DATABASE_URL) holds no tables`,
    )
    expect(stderr).toMatch(/^[^\n]*\n$/)
  })

  it('and say that an older one must be migrated first, which only a backup does not need', async () => {
    const { db, env } = await anOpenDatabase()
    const names = () => db.$queryRaw`SELECT migration_name FROM _prisma_migrations ORDER BY 1`
    await db.$executeRaw`DELETE FROM _prisma_migrations WHERE migration_name = (SELECT max(migration_name) FROM _prisma_migrations)`
    const before = await names()
    const { code, stderr } = await staff(['export'], env)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^The database [^\n]* lacks migration \w+, which [^\n]*staff -- migrate[^\n]*\n$/)
    expect(await staff(['backup', '-'], env)).toMatchObject({ code: 0 })
    expect(await names()).toEqual(before)
  })
})
