// Opens a pool of connections to a PostgreSQL server, directly or through a pooler.
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { isConnectionLost, OperatorError, redact, sqlState } from '../errors.ts'
import { type Database, openClient, type Preparation } from './database.ts'
import { assertMigrated, migrate } from './migrations.ts'

const POOL_SIZE = 10
/** How long opening a connection may take: a suspended database has to wake up. */
const CONNECT_MS = 5000
/** The same after a statement that was not answered: the server is probably down. */
const CONNECT_AFTER_SILENCE_MS = 1500
const CONNECTION = { application_name: 'quvera', connectionTimeoutMillis: CONNECT_MS }
const STATEMENTS_MAX = 200
const IDLE_IN_TRANSACTION_MS = 10_000
/** The error codes with which poolers refuse a setting that they do not pass on. */
const SETTING_REFUSED = ['08P01', '0A000']
/** Prisma's convention for the URL of a pooler. */
const MARKED_AS_POOLER = /[?&]pgbouncer=true(&|$)/

type WithStartup = new (config?: pg.ClientConfig) => pg.Client & { getStartupConf(): object }

/** The adapter reads all times as UTC. A startup parameter sets the zone, because poolers refuse `options`. */
class UtcClient extends (pg.Client as unknown as WithStartup) {
  override getStartupConf() {
    return { ...super.getStartupConf(), TimeZone: 'UTC' }
  }
}

export interface ConnectOptions extends Preparation {
  migrations: string
  /** Where migrations run, when `connection` leads to a pooler. */
  directUrl?: string | undefined
  /** How long a statement may take; no limit unless given. */
  queryTimeoutMs?: number
  /** What messages call the database; its address unless given. */
  name?: string
}

export async function connectDatabase(connection: pg.ClientConfig, options: ConnectOptions): Promise<Database> {
  const settings = { ...connection, ...CONNECTION }
  const limits = options.queryTimeoutMs ? createLimits(options.queryTimeoutMs) : undefined
  // Prepares the database, and shows whether a pooler is in between. The pool is for everything else.
  const client = await connectWithOptions(settings, limits?.startupOptions)
  try {
    const found = await readSettings(client)
    // A pooler does not pass on our time limit, and staff commands set none: then no named statements either.
    const isDirect = found.limitMs === limits?.statementMs && !MARKED_AS_POOLER.test(connection.connectionString ?? '')
    const pool = createPool({ ...settings, ...(isDirect ? limits.direct : limits?.pooled) })
    const name = options.name ?? `The database ${client.database} at ${client.host}:${client.port} (DATABASE_URL)`
    const [notes, db] = await Promise.all([
      applyOrCheckMigrations(client, name, options),
      openClient(new PrismaPg(pool, isDirect ? { statementNameGenerator: createStatementNames() } : {})),
      // Before `client` closes: a staff command that serves the embedded database ends when it has no connection left.
      pool.connect().then((first) => first.release()),
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
 * The server's limit is shorter than the client's: a statement that only the client gives up keeps its connection busy. A
 * pooler has the client's only, and may connect while a statement waits.
 */
function createLimits(queryTimeoutMs: number) {
  const statementMs = Math.round(queryTimeoutMs * 0.9)
  const startupOptions = `-c statement_timeout=${statementMs} -c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`
  return {
    statementMs,
    startupOptions,
    direct: { options: startupOptions, query_timeout: queryTimeoutMs },
    pooled: { query_timeout: queryTimeoutMs + CONNECT_MS },
  }
}

/** After a statement without an answer, and until a connection opens, new connections get less time to open. */
function createPool(settings: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ ...settings, Client: UtcClient, max: POOL_SIZE, keepAlive: true })
  const setConnectTimeout = (ms: number) => Object.assign(pool.options, { connectionTimeoutMillis: ms })
  pool.on('error', () => {}) // of idle connections, which are replaced
  pool.on('connect', (client) => {
    client.on('error', () => {}) // a broken connection fails the query at hand, which reports it
    setConnectTimeout(CONNECT_MS)
  })
  pool.on('release', (error, client) => {
    if (isIdle(client)) return
    // Never used again while it is in a transaction: the next order would be confirmed in it, and rolled back with it.
    // pg-pool drops a connection that is ending when this handler returns.
    client.end()
    if (!isConnectionLost(error)) setConnectTimeout(CONNECT_AFTER_SILENCE_MS)
  })
  return pool
}

/** Whether a connection waits for no answer and is in no transaction. */
function isIdle(client: pg.PoolClient): boolean {
  const { readyForQuery } = client as { readyForQuery?: boolean }
  return readyForQuery === true && client.getTransactionStatus() === 'I'
}

async function connectWithOptions(settings: pg.ClientConfig, options: string | undefined): Promise<pg.Client> {
  if (!options) return connect(settings)
  return connect({ ...settings, options }).catch((error: unknown) => {
    if (SETTING_REFUSED.includes(sqlState(error) ?? '')) return connect(settings)
    throw error
  })
}

/** @param url the variable that names the database; none for the embedded one */
async function connect(settings: pg.ClientConfig, url = settings.connectionString && 'DATABASE_URL') {
  const client = new UtcClient(settings)
  client.on('error', () => {}) // a broken connection fails the query at hand, which reports it
  try {
    await client.connect()
    return client
  } catch (error) {
    const cause = redact(reason(error))
    const advice = url ? `Check ${url}.` : 'Does the process that serves it still answer?'
    throw new OperatorError(`The database cannot be reached: ${cause}. ${advice}`, { cause: error })
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
    `Database sessions run in the time zone ${found?.zone}, which would shift every time. A pooler drops the site's setting. Set it for the role: ALTER ROLE … SET TimeZone TO 'UTC'.`,
  )
}

function warningsAbout({ fsync, synchronousCommit, standbys }: Settings): string[] {
  const isLocal = synchronousCommit === 'local' && standbys !== ''
  return [
    ...(fsync === 'off' ? [['fsync', fsync]] : []),
    ...(synchronousCommit === 'off' || isLocal ? [['synchronous_commit', synchronousCommit]] : []),
  ].map(
    ([name, value]) =>
      `${name} is ${value} at the PostgreSQL server: confirmed orders are lost when it crashes. Set ${name} to on`,
  )
}

/** Returns notes for the log. */
async function applyOrCheckMigrations(client: pg.Client, name: string, options: ConnectOptions): Promise<string[]> {
  const { migrations, directUrl, anyVersion } = options
  if (!options.migrate) return anyVersion ? [] : assertMigrated(client, name, migrations)
  if (!directUrl) return migrate(client, migrations)
  const direct = await connect({ connectionString: directUrl, ...CONNECTION }, 'DIRECT_DATABASE_URL')
  const notes = await migrate(direct, migrations).finally(() => direct.end())
  await assertMigrated(client, name, migrations).catch((error: unknown) => {
    if (!(error instanceof OperatorError)) throw error
    throw new OperatorError(
      'DIRECT_DATABASE_URL and DATABASE_URL lead to different databases or schemas: only that of DIRECT_DATABASE_URL has all tables of this version.',
    )
  })
  return notes
}

/** A statement with a name is parsed and planned once for each connection. */
function createStatementNames(): (query: { sql: string }) => string {
  const names = new Map<string, string>()
  return ({ sql }) => {
    if (!names.has(sql) && names.size < STATEMENTS_MAX) names.set(sql, `quvera_${names.size}`)
    return names.get(sql) ?? ''
  }
}

/** For several addresses Node throws an error without a message. */
function reason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join(', ')
  return error instanceof Error ? error.message : String(error)
}
