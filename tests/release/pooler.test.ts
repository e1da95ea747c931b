// The site works through a PgBouncer that its URL marks as a pooler, and refuses one that it does not mark.
// Not in `npm test`: it needs Debian's packages pgbouncer and postgresql.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openForSite } from '../../server/database/open.ts'
import { aFolder } from '../support/a-folder.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures } from '../support/fault-fixtures.ts'
import { refusalToStart } from '../support/fixtures.ts'
import { sendOrders } from '../support/load.ts'
import { asPostgres, isUp, ownedByPostgres } from '../support/postgres-server.ts'
import { freePort } from '../support/server-process.ts'
import { staff } from '../support/staff-command.ts'
import { administer, migrations } from '../support/test-database.ts'

const PROGRAM = '/usr/sbin/pgbouncer'
const hasPgBouncer = existsSync(PROGRAM)
const SAID_BY_EVERY_SITE = 'shared/brand.ts still names'

const { setUp } = createFaultFixtures()

/** A migrated database with the roles of prisma/roles.sql, and the address with the site's login. */
async function aDatabase() {
  const fixture = await setUp()
  expect(await staff(['migrate'], { DATABASE_URL: fixture.databaseUrl })).toMatchObject({ code: 0 })
  await administer(fixture.databaseUrl, await readFile('prisma/roles.sql', 'utf8'))
  const app = Object.assign(new URL(fixture.databaseUrl), { username: 'quvera_app' }).href
  return { ...fixture, app }
}

const marked = (url: string) => `${url}?pgbouncer=true`

/** The same database through a PgBouncer in transaction mode, which is otherwise as it comes, but for `setting`. */
async function throughPgBouncer(url: string, setting = '') {
  const target = new URL(url)
  const port = await freePort()
  const folder = await aFolder('quvera-pgbouncer-', tmpdir())
  const settings = `[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${folder}/users
pool_mode = transaction
${setting}
`
  await writeFile(join(folder, 'users'), `"${target.username}" ""\n`)
  await writeFile(join(folder, 'pgbouncer.ini'), settings)
  await ownedByPostgres(folder)
  const pooler = spawn(...asPostgres([PROGRAM, join(folder, 'pgbouncer.ini')]), { stdio: 'ignore', cwd: '/' })
  atEnd(() => pooler.kill('SIGKILL'))
  const through = Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href
  await eventually(() => isUp(through))
  return through
}

/** The longest statement of the site, and whether its statements have names. */
async function limitsAndNames(url: string) {
  const { db, close } = await openForSite({ url, dataDir: '', migrations, queryTimeoutMs: 2000 })
  await Promise.all(Array.from({ length: 20 }, () => db.enquiry.count()))
  const [found] = await db.$queryRaw<object[]>`
    SELECT current_setting('statement_timeout') AS "statement", (SELECT count(*) > 0 FROM pg_prepared_statements) AS "names"`
  await close()
  return found
}

it('straight at a server, statements have names, and the limit of the connection', async () => {
  const { app } = await aDatabase()
  expect(await limitsAndNames(app)).toEqual({ statement: '1800ms', names: true })
})

describe.skipIf(!hasPgBouncer)('behind PgBouncer in transaction mode', () => {
  it('statements have no names, and the limit of the role', async () => {
    const { app } = await aDatabase()
    expect(await limitsAndNames(marked(await throughPgBouncer(app)))).toEqual({ statement: '5s', names: false })
  })

  it('two servers store and mail, staff export and make a backup, and nobody has anything to warn of', async () => {
    const { app, start, inspect, resend } = await aDatabase()
    const DATABASE_URL = marked(await throughPgBouncer(app))
    const env = { DATABASE_URL, PUBLIC_URL: 'http://quvera.test', RESEND_WEBHOOK_SECRET: 'whsec_c2VjcmV0' }
    const servers = [await start(env), await start(env)]
    const loads = await Promise.all(
      servers.map(({ url }) => sendOrders({ url: () => url, orders: 50, concurrency: 16, retry: false })),
    )
    for (const { statuses } of loads) expect([...statuses]).toEqual([[200, 50]])
    await eventually(() => expect(resend.mails).toHaveLength(200))
    const { _min: first } = await inspect((db) => db.enquiry.aggregate({ _min: { receivedAt: true } }))
    expect(Date.now() - Number(first.receivedAt)).toBeLessThan(60_000) // by UTC, at a server in India
    for (const command of [['export'], ['backup', '-']])
      expect(await staff(command, { DATABASE_URL })).toMatchObject({ code: 0 })
    for (const server of servers) expect(await server.stop()).toEqual({ code: 0, signal: null })
    const lines = servers.flatMap((server) => (server.stdout() + server.stderr()).split('\n').filter(Boolean))
    expect(lines.filter((line) => !line.includes(SAID_BY_EVERY_SITE))).toEqual([])
  })

  it.each([
    ['refuses', ''],
    ['drops', 'ignore_startup_parameters = options'],
  ])('that %s our settings the site does not start without the mark, and says so', async (_, setting) => {
    const { app } = await aDatabase()
    expect(await refusalToStart({ DATABASE_URL: await throughPgBouncer(app, setting) })).toEqual([
      expect.stringMatching(/^DATABASE_URL leads to a pooler, .*\?pgbouncer=true.* prisma\/roles\.sql/),
    ])
  })
})

it('a login behind a pooler whose times are not UTC is refused, with how to set them', async () => {
  const { databaseUrl } = await aDatabase() // that of its superuser: roles.sql has given it no time zone
  const { code, stderr } = await staff(['export'], { DATABASE_URL: marked(databaseUrl) })
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Database sessions run in the time zone Asia\/Kolkata, .*roles\.sql.*ALTER ROLE .*\n$/)
})
