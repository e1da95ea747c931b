import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import type { Database, Db } from '../../server/database/database.ts'
import { CURSOR_PREFIX } from '../../server/database/snapshot.ts'
import { openServer } from '../../server/embedded/server.ts'
import { openDatabase } from '../../server/open-database.ts'
import { scratch } from '../support/scratch.ts'
import { freePort } from '../support/server-process.ts'
import { migrations } from '../support/test-database.ts'

const AT_ONCE_MS = 10_000 // of a machine that has other things to do

let folder: string
let database: Database
let db: Db
let port: number
const sockets: Socket[] = []
const clients: pg.Client[] = []
beforeAll(async () => {
  if (inject('postgres')) return
  folder = await mkdtemp(join(scratch, 'quvera-wire-'))
  port = await freePort()
  database = await openDatabase({ dataDir: folder, migrations, embeddedPort: port, migrate: true })
  db = database.db
})
afterEach(() => Promise.all(clients.splice(0).map((client) => client.end())))
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await database?.close()
  await rm(folder ?? '', { recursive: true, force: true })
})

/** What is answered until the connection ends, and that it ends at once. */
function say(...parts: (Buffer | string)[]): Promise<string> {
  return new Promise((done, fail) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    const timer = setTimeout(() => fail(new Error('The connection stays open')), AT_ONCE_MS)
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
    socket.on('error', () => {})
    socket.once('close', () => {
      clearTimeout(timer)
      done(answer)
    })
    for (const part of parts) socket.write(part)
  })
}

async function aClient(where: pg.ClientConfig = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' }) {
  const client = new pg.Client(where)
  client.on('error', () => {}) // the connection ends after a refusal
  await client.connect()
  clients.push(client)
  return client
}

/** All that a session has of its own, as the site finds it. */
async function siteSession() {
  const [session] = await db.$queryRawUnsafe<object[]>(`
    SELECT session_user::text, current_user::text,
      (SELECT json_object_agg(name, setting)::text FROM pg_settings WHERE source = 'session') AS settings,
      (SELECT count(*)::int FROM pg_prepared_statements WHERE name <> '' AND NOT starts_with(name, 'site_')) AS statements,
      (SELECT count(*)::int FROM pg_cursors WHERE name <> '') AS cursors,
      (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory') AS locks,
      (SELECT count(*)::int FROM pg_listening_channels()) AS channels,
      (SELECT count(*)::int FROM pg_class WHERE relpersistence = 't') AS "temporary"`)
  return session
}

function int32(value: number) {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const startup = (() => {
  const body = Buffer.concat([int32(196608), Buffer.from('user\0postgres\0database\0postgres\0\0')])
  return Buffer.concat([int32(body.length + 4), body])
})()
const query = (length: number) => Buffer.concat([startup, Buffer.from('Q'), int32(length)])
const message = (type: string, body = '') =>
  Buffer.concat([Buffer.from(type), int32(body.length + 4), Buffer.from(body, 'latin1')])

describe.skipIf(inject('postgres'))('what is not PostgreSQL’s protocol is refused at once', () => {
  it.each<[string, Buffer | string]>([
    ['a startup message of no length', int32(0)],
    ['a startup message of a negative length', int32(-1)],
    ['a startup message without a version', Buffer.concat([int32(4), Buffer.alloc(10)])],
    ['a startup message over 10 kB', int32(10_001)],
    ['a startup message of 2 GB', int32(2 ** 31 - 1)],
    ['a message length of 0', query(0)],
    ['a message length of 3', query(3)],
    ['a negative message length', query(-5)],
    ['a message of 2 GB', query(2 ** 31 - 1)],
    ['a message of a kind that there is not', Buffer.concat([startup, message('y')])],
    ['a request of a web page', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['an order of a web page', 'POST / HTTP/1.1\r\nContent-Type: text/plain\r\n\r\nQ\0\0\0\x20DROP TABLE x'],
  ])('%s', async (_what, bytes) => {
    expect(await say(bytes)).toMatch(/08P01/)
    await db.$queryRaw`SELECT 1`
  })

  it('messages that never ask for an answer', async () => {
    const parse = Buffer.concat([Buffer.from('P'), int32(8), Buffer.from('\0\0\0\0')])
    await say(startup, Buffer.alloc(parse.length * 1_500_000, parse))
    await db.$queryRaw`SELECT 1`
  })
})

describe.skipIf(inject('postgres'))('the session of the site is the same after other clients', () => {
  it.each([
    'SET search_path TO nowhere',
    'SET default_transaction_read_only TO on',
    "SET TIME ZONE 'Asia/Kolkata'",
    'SET synchronous_commit TO off',
    'SET ROLE pg_monitor',
    'SET SESSION AUTHORIZATION quvera_staff',
    "SELECT set_config('search_path', '', false)",
    'CREATE TEMP TABLE "Quvera_Lease" (nothing int)',
    'SELECT pg_advisory_lock(1)',
    'LISTEN news',
    'PREPARE nothing AS SELECT 1',
    'DECLARE held CURSOR WITH HOLD FOR SELECT 1',
    'BEGIN; SET search_path TO nowhere; COMMIT AND CHAIN',
    'BEGIN; SET LOCAL search_path TO nowhere; SELEC',
    'SET idle_session_timeout TO 1',
    'BEGIN; SET idle_in_transaction_session_timeout TO 1',
    'SET transaction_timeout TO 1',
    'SET statement_timeout TO 1',
  ])('%s is undone after the client’s turn, whether the client stays or goes', async (statement) => {
    const before = await siteSession()
    const client = await aClient()
    await client.query(statement).catch(() => {})
    await sleep(20) // for the time limits
    if (/^BEGIN/.test(statement)) await client.query('COMMIT').catch(() => {})
    expect(await siteSession()).toEqual(before)
    await client.query(statement).catch(() => {})
    await client.end()
    clients.pop()
    expect(await siteSession()).toEqual(before)
    await db.lease.upsert({
      where: { name: 'test' },
      create: { name: 'test', holder: statement, until: new Date() },
      update: { holder: statement },
    })
  })

  it.each([
    ['ALTER SYSTEM SET fsync TO off', '42501'],
    ['SET zero_damaged_pages TO on', '42501'],
    ['SET ROLE postgres', '42501'],
    ['RESET SESSION AUTHORIZATION', '42501'],
    ["SELECT set_config('session_authorization', 'postgres', false)", '42501'],
    ['ALTER ROLE postgres NOLOGIN', '42501'],
    ['ALTER DATABASE postgres SET synchronous_commit TO off', '42501'],
    ["ALTER ROLE ALL SET work_mem TO '64kB'", '42501'],
    ['ALTER ROLE quvera_staff IN DATABASE postgres SET search_path TO nowhere', '42501'],
    ['DROP TABLE pg_class', '42501'],
    [`COPY (SELECT 1) TO PROGRAM 'true'`, '42501'],
    [`CREATE TEMP TABLE t (x text); COPY t FROM PROGRAM 'true'`, '42501'],
    [`DO $$ BEGIN EXECUTE 'COPY (SELECT 1) TO PRO' || 'GRAM ''true'''; END $$`, '42501'],
    ['COPY "Quvera_Lease" FROM STDIN', '0A000'],
  ])('%s is refused, as a simple query and prepared, and the client can go on', async (statement, code) => {
    const client = await aClient()
    await expect(client.query(statement)).rejects.toMatchObject({ code })
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    if (statement.includes(';') && !statement.startsWith('DO')) return
    await expect(client.query({ text: statement, name: 'prepared' })).rejects.toMatchObject({ code })
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await db.$queryRaw`SELECT 1`
  })

  it('the cursors of a backup stay until its client goes, whoever else comes and goes', async () => {
    const [backup, other] = [await aClient(), await aClient()]
    const names = async () => {
      const rows = await db.$queryRaw<{ name: string }[]>`SELECT name FROM pg_cursors WHERE name <> '' ORDER BY 1`
      return rows.map(({ name }) => name)
    }
    for (const [client, name] of [
      [backup, `${CURSOR_PREFIX}1`] as const,
      [other, `${CURSOR_PREFIX}2`] as const,
      [other, 'other'] as const,
    ]) {
      await client.query('BEGIN')
      await client.query(`DECLARE "${name}" CURSOR WITH HOLD FOR SELECT generate_series(1, 3) AS number`)
      await client.query('COMMIT')
    }
    expect(await names()).toEqual(['backup 1', 'backup 2'])
    expect((await backup.query('FETCH 1 FROM "backup 1"')).rows).toEqual([{ number: 1 }])
    await other.end()
    clients.pop()
    await vi.waitFor(async () => expect(await names()).toEqual(['backup 1']))
    expect((await backup.query('FETCH 1 FROM "backup 1"')).rows).toEqual([{ number: 2 }])
    await backup.end()
    clients.pop()
    await vi.waitFor(async () => expect(await names()).toEqual([]))
  })

  it('an answer that is too long for memory is refused, and its transaction is rolled back', async () => {
    const client = await aClient()
    const long = `SELECT repeat('x', 1000) FROM generate_series(1, 40000)`
    const refusal = { code: '54000', message: expect.stringMatching(/longer than 16 MB.*FETCH_COUNT/) }
    await expect(client.query(long)).rejects.toMatchObject(refusal)
    await expect(client.query({ text: long, values: [] })).rejects.toMatchObject(refusal)
    await client.query(`BEGIN; INSERT INTO "Quvera_Lease" VALUES ('long', 'x', now())`)
    await expect(client.query(long)).rejects.toMatchObject(refusal)
    await client.query('COMMIT')
    expect((await client.query(`SELECT FROM "Quvera_Lease" WHERE "Name" = 'long'`)).rows).toEqual([])
    await client.query(`BEGIN; DECLARE rows CURSOR FOR ${long}`)
    expect((await client.query('FETCH 1000 FROM rows')).rows).toHaveLength(1000)
    await client.query('COMMIT')
  })

  it('a client that made itself superuser is not one after the next start', async () => {
    const client = await aClient()
    await client.query(`DO $$ BEGIN EXECUTE 'SET SES' || 'SION AUTHORIZATION postgres';
      EXECUTE 'ALTER RO' || 'LE quvera_staff SUPERUSER'; EXECUTE 'CREATE ROLE mine SUPERUSER LOGIN'; END $$`)
    const superusers = () => db.$queryRaw`SELECT rolname::text AS name FROM pg_roles WHERE rolsuper ORDER BY 1`
    expect(await superusers()).toHaveLength(3)
    await client.end()
    clients.pop()
    await database.close()
    database = await openDatabase({ dataDir: folder, migrations, embeddedPort: port })
    db = database.db
    expect(await superusers()).toEqual([{ name: 'postgres' }])
  })

  it('a statement that only mentions programs is served', async () => {
    const client = await aClient()
    expect((await client.query(`SELECT 'copy to program' AS text`)).rows).toEqual([{ text: 'copy to program' }])
  })

  it('a client may do with the tables what their owner may', async () => {
    const client = await aClient()
    await client.query('BEGIN; LOCK TABLE "Quvera_Lease" IN EXCLUSIVE MODE; ALTER TABLE "Quvera_Lease" ADD "X" int')
    await client.query('ALTER TABLE "Quvera_Lease" DROP "X"; COMMIT')
    await client.query(`SELECT setval('"Quvera_Mail_Id_seq"', 1)`)
    await client.query(
      'CREATE SCHEMA copies; CREATE UNLOGGED TABLE copies.a AS TABLE "Quvera_Lease"; DROP SCHEMA copies CASCADE',
    )
    for (const statement of ['VACUUM', 'CHECKPOINT', 'TRUNCATE "Quvera_Lease"']) await client.query(statement)
  })

  it('a client that disconnects after a failed statement affects no other client', async () => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    const broken = Buffer.concat([message('P', '\0SELEC 1\0\0\0'), message('H')])
    socket.write(Buffer.concat([startup, broken]))
    await new Promise<void>((done) => {
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk.toString('latin1')
        if (answer.includes('42601')) done()
      })
    })
    socket.destroy()
    expect(await db.$queryRaw`SELECT 5 AS five`).toEqual([{ five: 5 }])
    expect(await siteSession()).toMatchObject({ current_user: 'postgres' })
  })
})

describe.skipIf(inject('postgres'))('statements of the site', () => {
  const mine = (number: number) => db.$queryRaw<{ same: number }[]>`SELECT ${number}::int AS "same"`
  const executions = async () => {
    const rows = await db.$queryRaw<{ times: number }[]>`
      SELECT (generic_plans + custom_plans)::int AS "times" FROM pg_prepared_statements
      WHERE name LIKE 'site_%' AND statement LIKE '%AS "same"'`
    return rows.map(({ times }) => times)
  }

  it('are parsed once for all of its connections', async () => {
    for (const number of [1, 2, 3]) expect(await mine(number)).toEqual([{ same: number }])
    const both = await Promise.all([mine(4), mine(5)])
    expect(both).toEqual([[{ same: 4 }], [{ same: 5 }]])
    expect(await executions()).toEqual([5])
  })

  it('are parsed again after a client, whose turn drops them', async () => {
    await mine(6)
    await (await aClient()).query('SELECT 1')
    expect(await mine(7)).toEqual([{ same: 7 }])
    expect(await executions()).toEqual([1])
  })

  it('that PostgreSQL refuses fail each time with its error, and nothing else does', async () => {
    const refused = () => db.$queryRawUnsafe('SELECT nothing FROM nowhere WHERE 1 = $1', 1)
    for (const _ of [1, 2]) await expect(refused()).rejects.toThrow(/nowhere/)
    expect(await mine(8)).toEqual([{ same: 8 }])
    const divide = (by: number) => db.$queryRaw`SELECT 1 / ${by}::int AS "quotient"`
    await expect(divide(0)).rejects.toThrow(/zero/)
    expect(await divide(1)).toEqual([{ quotient: 1 }])
  })

  it('go on after the tables that they use were changed', async () => {
    const names = () => db.lease.findMany({ where: { name: 'changed' } })
    expect(await names()).toEqual([])
    await db.$executeRawUnsafe('ALTER TABLE "Quvera_Lease" ADD "X" int')
    expect(await names()).toEqual([])
    await db.$executeRawUnsafe('ALTER TABLE "Quvera_Lease" DROP "X"')
    expect(await names()).toEqual([])
  })

  it('beyond two hundred texts are served without a name', async () => {
    for (let number = 0; number < 210; number++)
      expect(await db.$queryRawUnsafe(`SELECT ${number} AS "number" WHERE 1 = $1`, 1)).toEqual([{ number }])
    const [row] = await db.$queryRaw<
      { kept: number }[]
    >`SELECT count(*)::int AS "kept" FROM pg_prepared_statements WHERE name <> ''`
    expect(row?.kept).toBe(200)
  })
})

describe.skipIf(inject('postgres'))('as time passes', { timeout: 30_000 }, () => {
  let own: string
  let server: Awaited<ReturnType<typeof openServer>>
  // In this thread, whose clock the tests move on.
  beforeAll(async () => {
    own = await mkdtemp(join(scratch, 'quvera-wire-'))
    const options = { dataDir: own, socket: join(own, '.s.PGSQL.5432'), port: 0, siteUser: 'site', create: true }
    server = await openServer(options, (message) => {
      if (message.kind === 'failed') throw new Error(message.text)
    })
  })
  afterAll(async () => {
    await server?.close(0)
    await rm(own ?? '', { recursive: true, force: true })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  async function aTransaction() {
    const client = await aClient({ host: own, user: 'postgres', database: 'postgres' })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    await client.query('BEGIN')
    const gone = new Promise((done) => client.once('end', done))
    return { client, gone }
  }

  it('a client at work is served to its end when the process that started the database closes it', async () => {
    const folder = await mkdtemp(join(scratch, 'quvera-wire-'))
    const options = { dataDir: folder, socket: join(folder, '.s.PGSQL.5432'), port: 0, siteUser: 'site', create: true }
    const { close } = await openServer(options, () => {})
    const client = await aClient({ host: folder, user: 'postgres', database: 'postgres' })
    await client.query('BEGIN')
    const closed = close(200)
    await sleep(600)
    await client.query('COMMIT')
    expect((await client.query('SELECT 5 AS five')).rows).toEqual([{ five: 5 }])
    await closed
    await rm(folder, { recursive: true })
  })

  it('statements of the site are planned anew after some time, as tables grow', async () => {
    const site = await aClient({ host: own, user: 'site', database: 'postgres' })
    vi.useFakeTimers({ toFake: ['performance'] })
    const plans = async () => {
      const { rows } = await site.query('SELECT $1::int AS "planned"', [1])
      expect(rows).toEqual([{ planned: 1 }])
      return (await site.query(`SELECT custom_plans::int FROM pg_prepared_statements WHERE statement LIKE '%planned%'`))
        .rows
    }
    expect(await plans()).toEqual([{ custom_plans: 1 }])
    expect(await plans()).toEqual([{ custom_plans: 2 }])
    vi.advanceTimersByTime(600_000)
    expect(await plans()).toEqual([{ custom_plans: 1 }])
  })

  it('a client that keeps a transaction open is disconnected after pauses of 30 s in total', async () => {
    const { client, gone } = await aTransaction()
    for (let asked = 0; asked < 3; asked++) {
      await client.query('SELECT 1')
      await vi.advanceTimersByTimeAsync(9000)
    }
    await client.query('SELECT 1')
    await vi.advanceTimersByTimeAsync(3100)
    await gone
    vi.useRealTimers()
    const other = await aClient({ host: own, user: 'postgres', database: 'postgres' })
    expect((await other.query('SELECT 5 AS five')).rows).toEqual([{ five: 5 }])
  })

  it('and after 10 s of a message that does not end', async () => {
    const { client, gone } = await aTransaction()
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    for (const byte of message('Q', 'SELECT 1\0').subarray(0, 3)) {
      await vi.advanceTimersByTimeAsync(3400)
      await new Promise((done) => stream.write(Buffer.from([byte]), done))
    }
    await gone
    vi.useRealTimers()
    const other = await aClient({ host: own, user: 'postgres', database: 'postgres' })
    expect((await other.query('SELECT 5 AS five')).rows).toEqual([{ five: 5 }])
  })
})
