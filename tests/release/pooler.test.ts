// The site works directly and through a PgBouncer that its URL marks as a pooler, and refuses one that it does not mark.
// A database that sleeps or drops a connection costs no order.
// The cases with PgBouncer need its Debian package.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { openForSite } from '../../server/open-database.ts'
import { aFolder } from '../support/a-folder.ts'
import { submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { aServer, refusalToStart } from '../support/fixtures.ts'
import { startForwarder } from '../support/forwarder.ts'
import { aUniqueOrder, sendOrders } from '../support/load.ts'
import {
  asPostgres,
  isUp,
  ownedByPostgres,
  type PostgresServer,
  startPostgresServer,
} from '../support/postgres-server.ts'
import { freePort } from '../support/server-process.ts'
import { staff } from '../support/staff-command.ts'
import { onDatabase } from '../support/stored-enquiry.ts'
import { administer, migrations } from '../support/test-database.ts'

const PROGRAM = '/usr/sbin/pgbouncer'

/** Debian's package; the tests that need it are passed over where it is not. */
const hasPgBouncer = existsSync(PROGRAM)

/** A PgBouncer in transaction mode in front of the server of `url`, and otherwise as it is unless `setting` says more. */
async function startPgBouncer(url: string, setting = '') {
  const target = new URL(url)
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'quvera-pgbouncer-'))
  const settings = join(folder, 'pgbouncer.ini')
  await writeFile(join(folder, 'users'), `"${target.username}" ""\n`)
  await writeFile(
    settings,
    `[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${folder}/users
pool_mode = transaction
${setting}
`,
  )
  await ownedByPostgres(folder)
  const pooler = spawn(...asPostgres([PROGRAM, settings]), { stdio: 'ignore', cwd: '/' })
  const through = Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href
  await eventually(() => isUp(through))
  return {
    /** The same database through it. */
    url: through,
    async close() {
      pooler.kill('SIGKILL')
      await rm(folder, { recursive: true })
    },
  }
}

let postgres: PostgresServer
beforeAll(async () => {
  postgres = await startPostgresServer()
})
afterAll(() => postgres.close())

/** An empty database on a server that is reached by TCP. */
async function anEmptyDatabase(): Promise<string> {
  const name = `pooler_${crypto.randomUUID().replaceAll('-', '')}`
  await administer(postgres.url, `CREATE DATABASE ${name}`)
  return Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
}

/** The same, migrated. */
async function aDatabase() {
  const DATABASE_URL = await anEmptyDatabase()
  expect(await staff(['migrate'], { DATABASE_URL })).toMatchObject({ code: 0 })
  return { DATABASE_URL }
}

/** The same, with the roles of prisma/roles.sql; the addresses of its owner and of the site. */
async function aDatabaseWithRoles() {
  const { DATABASE_URL: owner } = await aDatabase()
  await administer(owner, await readFile('prisma/roles.sql', 'utf8'))
  return { owner, app: Object.assign(new URL(owner), { username: 'quvera_app' }).href }
}

/** @returns its address, without the mark */
async function aPooler(url: string, setting?: string): Promise<string> {
  const pooler = await startPgBouncer(url, setting)
  atEnd(pooler.close)
  return pooler.url
}

const marked = (url: string) => `${url}?pgbouncer=true`

/** A server process that has said nothing of level warn or more, so far. */
async function aSilentServer(env: Record<string, string>) {
  return aServer({
    PUBLIC_URL: 'http://quvera.test',
    RESEND_WEBHOOK_SECRET: 'whsec_c2VjcmV0',
    RATE_LIMIT_MAX: '0',
    LOG_LEVEL: 'warn',
    ...env,
  })
}

/** The longest statement, and whether statements have names. */
async function limitsAndNames(db: Db) {
  const [found] = await db.$queryRaw<object[]>`
    SELECT current_setting('statement_timeout') AS "statement", (SELECT count(*) > 0 FROM pg_prepared_statements) AS "names"`
  return found
}

const POOLERS = [
  ['refuses', undefined],
  ['drops', 'ignore_startup_parameters = options'],
] as const
const SAID_BY_EVERY_SITE = 'shared/brand.ts still names'

const needs = hasPgBouncer ? '' : " (left out: needs Debian's package pgbouncer)"

describe.skipIf(!hasPgBouncer)(`behind PgBouncer in transaction mode${needs}`, () => {
  it.each(POOLERS)('that %s our settings, two servers store, mail and have nothing to warn of', async (_, setting) => {
    const { owner, app } = await aDatabaseWithRoles()
    const env = { DATABASE_URL: marked(await aPooler(app, setting)) }
    const resend = await startFakeResend()
    atEnd(resend.close)
    const servers = await Promise.all([1, 2].map(() => aSilentServer({ ...env, ...sendingThrough(resend) })))
    const sent = servers.map((server) =>
      sendOrders({ url: () => server.url, orders: 50, concurrency: 16, retry: false }),
    )
    for (const { statuses } of await Promise.all(sent)) expect([...statuses]).toEqual([[200, 50]])
    await eventually(() => expect(resend.mails).toHaveLength(200), 30_000)
    await onDatabase({ DATABASE_URL: owner }, async (db) => {
      const times = await db.enquiry.aggregate({ _count: true, _min: { receivedAt: true } })
      expect(times._count).toBe(100)
      expect(Date.now() - Number(times._min.receivedAt)).toBeLessThan(60_000)
    })
    for (const server of servers) expect(await server.stop()).toEqual({ code: 0, signal: null })
    const lines = servers.flatMap((server) => (server.stdout() + server.stderr()).split('\n').filter(Boolean))
    expect(lines.filter((line) => !line.includes(SAID_BY_EVERY_SITE))).toEqual([])
  })

  it.each(POOLERS)(
    'that %s our settings, the site does not start without the mark, and says so',
    async (_, setting) => {
      const { app } = await aDatabaseWithRoles()
      expect(await refusalToStart({ DATABASE_URL: await aPooler(app, setting) })).toEqual([
        expect.stringMatching(/^DATABASE_URL leads to a pooler, .*\?pgbouncer=true.* prisma\/roles\.sql/),
      ])
    },
  )

  it('statements have the limit of the role, and no names', async () => {
    const { app } = await aDatabaseWithRoles()
    const url = marked(await aPooler(app))
    const open = () => openForSite({ url, dataDir: '', migrations, queryTimeoutMs: 2000 })
    const servers = await Promise.all([open(), open()])
    await Promise.all(servers.flatMap(({ db }) => Array.from({ length: 20 }, () => db.enquiry.count())))
    for (const { db, close, warnings } of servers) {
      expect(await limitsAndNames(db)).toEqual({ statement: '5s', names: false })
      expect(warnings).toEqual([])
      await close()
    }
  })

  it('staff read, change and back up, and the owner restores', async () => {
    const { app } = await aDatabaseWithRoles()
    const env = { DATABASE_URL: marked(await aPooler(app)) }
    const server = await aSilentServer(env)
    const { reference = '' } = await submit(server.url, aUniqueOrder())
    for (const command of [['export'], ['check'], ['mails']])
      expect(await staff(command, env), command.join(' ')).toMatchObject({ code: 0, stderr: '' })
    const folder = await aFolder('quvera-pooler-')
    const file = join(folder, 'backup.gz')
    expect(await staff(['backup', file], env)).toMatchObject({ code: 0 })
    const empty = await anEmptyDatabase()
    await administer(empty, `ALTER DATABASE ${new URL(empty).pathname.slice(1)} SET TimeZone TO 'UTC'`)
    const other = { DATABASE_URL: marked(await aPooler(empty)) }
    expect(await staff(['restore', file], other)).toMatchObject({ code: 0, stderr: '' })
    expect((await staff(['export'], other)).stdout).toContain(reference)
  })
})

it.each(['', '?options=-cwork_mem%3D8MB'])(
  'straight at a server, statements have names and limits %s',
  async (more) => {
    const { DATABASE_URL } = await aDatabase()
    const url = DATABASE_URL + more
    const { db, close } = await openForSite({ url, dataDir: '', migrations, queryTimeoutMs: 2000 })
    await db.enquiry.count()
    expect(await limitsAndNames(db)).toEqual({ statement: '1800ms', names: true })
    await close()
  },
)

/** No database falls asleep while it is asked something. */
function isAtRest(db: Db) {
  return eventually(async () => {
    const busy = await db.$queryRaw`
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`
    expect(busy).toEqual([])
  })
}

describe('a database that sleeps and needs three seconds to wake', () => {
  it.each(['straight', ...(hasPgBouncer ? ['through PgBouncer'] : [])])(
    'costs a visitor who is led there %s a wait and no error',
    async (way) => {
      const { owner: DATABASE_URL, app } = await aDatabaseWithRoles()
      const forwarder = await startForwarder(Number(new URL(app).port))
      atEnd(forwarder.close)
      const straight = Object.assign(new URL(app), { port: String(forwarder.port) }).href
      const server = await aSilentServer({
        DATABASE_URL: way === 'straight' ? straight : marked(await aPooler(straight)),
      })
      expect((await submit(server.url, aUniqueOrder())).status).toBe(200)
      const said = server.stdout()
      await onDatabase({ DATABASE_URL }, isAtRest)
      await forwarder.sleepUntilAsked(3000)
      const start = performance.now()
      const orders = Array.from({ length: 20 }, () => submit(server.url, aUniqueOrder()))
      expect(new Set((await Promise.all(orders)).map(({ status }) => status))).toEqual(new Set([200]))
      expect(performance.now() - start).toBeGreaterThan(3000)
      expect(server.stdout()).toBe(said)
    },
  )
})

it.each([0, 3000])(
  'an order whose connection ends under it is stored once, and nothing is said, though the database sleeps %i ms',
  async (ms) => {
    const { DATABASE_URL = '' } = await aDatabase()
    const order = aUniqueOrder()
    let inserts = 0
    const forwarder = await startForwarder(Number(new URL(DATABASE_URL).port), (bytes) => {
      if (bytes.includes(order.submissionKey) && inserts++ === 0) forwarder.sleepUntilAsked(ms)
      return bytes
    })
    atEnd(forwarder.close)
    const server = await aSilentServer({
      DATABASE_URL: Object.assign(new URL(DATABASE_URL), { port: String(forwarder.port) }).href,
    })
    const said = server.stdout()
    const { status, reference } = await submit(server.url, order)
    expect(status, server.stdout()).toBe(200)
    expect(inserts).toBeGreaterThan(1) // whether or not the first one reached the server
    expect(await submit(server.url, order)).toMatchObject({ status: 200, reference })
    await onDatabase({ DATABASE_URL }, async (db) =>
      expect([await db.enquiry.count(), await db.mail.count()]).toEqual([1, 2]),
    )
    expect(server.stdout()).toBe(said)
  },
)

describe('a login behind a pooler that has times of its own', () => {
  /** No pooler is needed: what the URL marks as one gets no settings. */
  async function inZone(zone: string) {
    const { DATABASE_URL: url } = await aDatabase()
    await administer(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET TimeZone TO '${zone}'`)
    return staff(['export'], { DATABASE_URL: marked(url) })
  }

  it.each([
    ['GMT', undefined],
    ['Etc/UTC', undefined],
    [
      'Asia/Kolkata',
      /^Database sessions run in the time zone Asia\/Kolkata, [^\n]*roles\.sql[^\n]*ALTER ROLE [^\n]*\n$/,
    ],
  ])('may call UTC %s, and is refused where its times are others: %s', async (zone, says) => {
    expect(await inZone(zone)).toMatchObject({ code: says ? 1 : 0, stderr: says ? expect.stringMatching(says) : '' })
  })

  it('is warned of where it has no limit', async () => {
    const { DATABASE_URL: url } = await aDatabase()
    await administer(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET TimeZone TO 'UTC'`)
    const { warnings, close } = await openForSite({ url: marked(url), dataDir: '', migrations, queryTimeoutMs: 2000 })
    await close()
    expect(warnings).toEqual([expect.stringContaining('no statement_timeout')])
  })
})

describe('migrations on a server', () => {
  it('run at DIRECT_DATABASE_URL where there is one', async () => {
    const url = await anEmptyDatabase()
    const name = `plain_${crypto.randomUUID().replaceAll('-', '')}`
    await administer(
      url,
      `CREATE ROLE ${name} LOGIN; GRANT CREATE ON SCHEMA public TO postgres;
       ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT ON TABLES TO ${name}; GRANT USAGE ON SCHEMA public TO ${name}`,
    )
    const env = { DATABASE_URL: Object.assign(new URL(url), { username: name }).href, DIRECT_DATABASE_URL: url }
    expect((await staff(['migrate'], { ...env, DIRECT_DATABASE_URL: '' })).stderr).toMatch(
      /^Migration \d+_tables is due, and this role may not apply it\. First run [^\n]*migrate[^\n]*\n$/,
    )
    expect(await staff(['migrate'], env)).toMatchObject({ code: 0 })
    expect(await staff(['export'], env)).toMatchObject({ code: 0, stderr: '' })
    for (const elsewhere of [await anEmptyDatabase(), `${url}?options=-csearch_path%3Delsewhere`]) {
      expect(await staff(['migrate'], { DATABASE_URL: elsewhere, DIRECT_DATABASE_URL: url })).toMatchObject({
        code: 1,
        stderr:
          'DIRECT_DATABASE_URL and DATABASE_URL lead to different databases or schemas: only that of DIRECT_DATABASE_URL has all tables of this version.\n',
      })
    }
    const unreachable = { DATABASE_URL: url, DIRECT_DATABASE_URL: 'postgresql://x@127.0.0.1:1/x' }
    expect((await staff(['migrate'], unreachable)).stderr).toMatch(
      /^The database cannot be reached: .*ECONNREFUSED.* Check DIRECT_DATABASE_URL\.\n$/,
    )
  })

  it("wait for Prisma's own lock, and take as long as they take", async () => {
    const url = await anEmptyDatabase()
    const prisma = new pg.Client({ connectionString: url })
    await prisma.connect()
    atEnd(() => prisma.end())
    await prisma.query('SELECT pg_advisory_lock(72707369)')
    const opening = openForSite({ url, dataDir: '', migrations, migrate: true, queryTimeoutMs: 100 })
    opening.catch(() => {})
    const waits = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (
      SELECT oid FROM pg_database WHERE datname = current_database())`
    await eventually(async () => expect((await prisma.query(waits)).rows).toHaveLength(1))
    await prisma.query('SELECT pg_sleep(0.2)')
    await prisma.query('SELECT pg_advisory_unlock(72707369)')
    const { notes, close } = await opening
    await close()
    expect(notes.length).toBeGreaterThan(0)
  })
})
