import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { OperatorError, redact, sqlState } from '../errors.ts'
import { type Database, openClient, type Preparation } from './database.ts'
import { assertMigrated, migrate } from './migrations.ts'

const POOL_SIZE = 10
/** A database that sleeps opens a connection once it is awake. One that leaves a statement unanswered is away, not asleep. */
const WAKE_MS = 5000
const AWAY_MS = 1500
const STATEMENTS_MAX = 200
const IDLE_IN_TRANSACTION_MS = 10_000
/** How poolers refuse a setting that they do not pass on. */
const NOT_PASSED_ON = ['08P01', '0A000']

type WithStartup = new (config?: pg.ClientConfig) => pg.Client & { getStartupConf(): object }

/**
 * The adapter reads times as if they were UTC, so the session's time zone has to be. Asked for by its name, as poolers
 * pass it on, and not among `options`, which they refuse.
 */
class Client extends (pg.Client as unknown as WithStartup) {
  override getStartupConf() {
    return { ...super.getStartupConf(), TimeZone: 'UTC' }
  }
}

export interface ConnectOptions extends Preparation {
  /** Folder of the migrations that this version of the site needs. */
  migrations: string
  /** Where migrations run when a pooler lies between: as everything else unless given. */
  directUrl?: string | undefined
  /** How long a statement may take: as long as it takes unless given. */
  queryTimeoutMs?: number
  /** The database, as a sentence begins with it: by its address unless given. */
  name?: string
}

/** Opens a pool of connections to a PostgreSQL server, directly or through a pooler. */
export async function connectDatabase(connection: pg.ClientConfig, options: ConnectOptions): Promise<Database> {
  const { queryTimeoutMs } = options
  const settings = { ...connection, application_name: 'quvera', connectionTimeoutMillis: WAKE_MS }
  // The server gives up first: what only the client gives up goes on waiting there, a connection each.
  const limitMs = queryTimeoutMs && Math.round(queryTimeoutMs * 0.9)
  const limits = limitMs && {
    options: `-c statement_timeout=${limitMs} -c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`,
  }
  const client = await connect({ ...settings, ...limits }).catch((error: unknown) => {
    if (!limits || !NOT_PASSED_ON.includes(sqlState(error) ?? '')) throw error
    return connect(settings)
  })
  try {
    const found = await readSettings(client)
    // Behind a pooler nothing of a session lasts, and a statement may have to wait until it has opened a connection.
    const isDirect = found.limitMs === limitMs && !/[?&]pgbouncer=true(&|$)/.test(connection.connectionString ?? '')
    const pool = new pg.Pool({
      ...settings,
      ...(isDirect && limits),
      ...(queryTimeoutMs && { query_timeout: queryTimeoutMs + (isDirect ? 0 : WAKE_MS) }),
      Client,
      max: POOL_SIZE,
      keepAlive: true,
    })
    pool.on('error', () => {}) // of idle connections, which are replaced
    pool.on('connect', () => Object.assign(pool.options, { connectionTimeoutMillis: WAKE_MS }))
    pool.on('release', (_error, client) => {
      if (!endUnlessAtRest(client)) Object.assign(pool.options, { connectionTimeoutMillis: AWAY_MS })
    })
    const name = options.name ?? `The database ${client.database} at ${client.host}:${client.port} (DATABASE_URL)`
    const [notes, db] = await Promise.all([
      prepare(client, name, options),
      openClient(new PrismaPg(pool, isDirect ? { statementNameGenerator: createStatementNames() } : {})),
      pool.connect().then((first) => first.release()), // the process that has an embedded database waits for its clients
    ]).catch(async (error) => {
      await pool.end()
      throw error
    })
    return {
      db,
      notes,
      warnings: warningsAbout(found),
      async withClient(work) {
        const client = await pool.connect()
        return work(client).finally(() => client.release())
      },
      async close() {
        await db.$disconnect()
        await pool.end()
      },
    }
  } finally {
    await client.end()
  }
}

/**
 * Keeps a connection that waits for an answer, or is in a transaction, from being used again: when a ROLLBACK was given
 * up before it was sent, what came next would be a part of that transaction, confirmed and taken back later.
 */
function endUnlessAtRest(client: pg.PoolClient): boolean {
  const { readyForQuery } = client as { readyForQuery?: boolean }
  const isAtRest = readyForQuery === true && client.getTransactionStatus() === 'I'
  if (!isAtRest) client.end()
  return isAtRest
}

async function connect(settings: pg.ClientConfig): Promise<pg.Client> {
  const client = new Client(settings)
  client.on('error', () => {}) // a broken connection fails the query at hand, which reports it
  try {
    await client.connect()
    return client
  } catch (error) {
    const cause = redact(reason(error))
    throw new OperatorError(`The database cannot be reached: ${cause}. Check DATABASE_URL.`, { cause: error })
  }
}

interface Settings {
  zone: string
  offsets: string
  /** The limit to a statement's time, 0 for none. */
  limitMs: number
  fsync: string
  synchronousCommit: string
  /** Standbys that confirm a commit; empty for none. */
  standbys: string
}

/** @throws OperatorError when sessions run in another time zone than UTC */
async function readSettings(client: pg.Client): Promise<Settings> {
  const { rows } = await client.query<Settings>(
    `SELECT current_setting('TimeZone') AS "zone", setting::int AS "limitMs",
       current_setting('fsync') AS "fsync", current_setting('synchronous_commit') AS "synchronousCommit",
       current_setting('synchronous_standby_names') AS "standbys",
       to_char(timestamptz '2026-01-01Z', 'OF') || to_char(timestamptz '2026-07-01Z', 'OF') AS "offsets"
     FROM pg_settings WHERE name = 'statement_timeout'`,
  )
  const [found] = rows
  if (found?.offsets === '+00+00') return found
  throw new OperatorError(
    `Database sessions run in the time zone ${found?.zone}, which would shift every time. A pooler in between drops our setting: ALTER ROLE … SET TimeZone TO 'UTC'.`,
  )
}

/** Settings with which the server confirms what it may lose. */
function warningsAbout({ fsync, synchronousCommit, standbys }: Settings): string[] {
  const isLocal = synchronousCommit === 'local' && standbys !== ''
  const settings = { fsync: fsync === 'off', synchronous_commit: synchronousCommit === 'off' || isLocal }
  const unsafe = Object.entries(settings).flatMap(([name, isUnsafe]) => (isUnsafe ? [name] : []))
  return unsafe.map(
    (name) =>
      `${name} is ${name === 'fsync' ? fsync : synchronousCommit} at the PostgreSQL server: confirmed orders are lost when it crashes. Set ${name} to on`,
  )
}

/** Applies the migrations, or checks that the database has them. Returns notes for the log. */
async function prepare(client: pg.Client, name: string, options: ConnectOptions): Promise<string[]> {
  const { migrations, directUrl, anyVersion } = options
  if (!options.migrate) return anyVersion ? [] : assertMigrated(client, name, migrations)
  if (!directUrl) return migrate(client, migrations)
  const direct = await connect({
    connectionString: directUrl,
    application_name: 'quvera',
    connectionTimeoutMillis: WAKE_MS,
  })
  const notes = await migrate(direct, migrations).finally(() => direct.end())
  await assertMigrated(client, name, migrations) // both have to lead to the same database
  return notes
}

type StatementNames = (query: { sql: string }) => string

/** A name for each statement text, so that a connection parses and plans it once. Beyond `STATEMENTS_MAX` texts: none. */
function createStatementNames(): StatementNames {
  const names = new Map<string, string>()
  return ({ sql }) => {
    if (!names.has(sql) && names.size < STATEMENTS_MAX) names.set(sql, `quvera_${names.size}`)
    return names.get(sql) ?? ''
  }
}

/** A connection error's own words; Node reports several addresses at once without any. */
function reason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join(', ')
  return error instanceof Error ? error.message : String(error)
}
