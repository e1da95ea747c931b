// Opens a pool of connections to a PostgreSQL server, directly or through a pooler.
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { isConnectionLost, OperatorError, redact, sqlState } from '../errors.ts'
import type { Database, Preparation } from './database.ts'
import { PrismaClient } from './generated/client.ts'
import { assertMigrated, migrate } from './migrations.ts'

const POOL_SIZE = 10
const SCHEMA = 'public'
/** Also Prisma's convention: the size of the pool. */
const CONNECTION_LIMIT = /[?&]connection_limit=([1-9]\d{0,3})(&|$)/
/** How long opening a connection may take: a suspended database has to wake up. */
const CONNECT_MS = 5000
/** The same after a statement without an answer, so that orders fail soon. The next connection that opens restores CONNECT_MS. */
const CONNECT_AFTER_SILENCE_MS = 1500
const CONNECTION = { application_name: 'quvera', connectionTimeoutMillis: CONNECT_MS }
const STATEMENTS_MAX = 200
const IDLE_IN_TRANSACTION_MS = 10_000
/** Poolers refuse a setting with these error codes. */
const SETTING_REFUSED = ['08P01', '0A000']
/** What to correct in the URL, by PostgreSQL's error code or by pg's message. */
const ESCAPES = ' In its password % is written %25, and # is written %23.'
const HINTS: Record<string, string> = {
  '28P01': ESCAPES,
  'URI malformed': ESCAPES,
  // Also with sslmode=prefer.
  'The server does not support SSL connections': ' Without TLS it says sslmode=disable.',
}
/** Prisma's convention for the URL of a pooler. */
const MARKED_AS_POOLER = /[?&]pgbouncer=true(&|$)/

type WithStartup = new (config?: pg.ClientConfig) => pg.Client & { getStartupConf(): object }

/** The adapter reads all times as UTC. Poolers pass this startup parameter on, and refuse `options`. */
class UtcClient extends (pg.Client as unknown as WithStartup) {
  override getStartupConf() {
    return { ...super.getStartupConf(), TimeZone: 'UTC' }
  }
}

export interface ConnectOptions extends Preparation {
  migrations: string
  /** Where migrations run, when `connection` leads to a pooler. */
  directUrl?: string | undefined
  /** No limit unless given. */
  queryTimeoutMs?: number
  /** For messages; its address unless given. */
  name?: string
}

export async function connectDatabase(connection: pg.ClientConfig, options: ConnectOptions): Promise<Database> {
  const settings = { ...connection, ...CONNECTION }
  const { queryTimeoutMs } = options
  const url = connection.connectionString ?? ''
  const variable = url ? 'DATABASE_URL' : undefined
  const limits = queryTimeoutMs
    ? {
        // Shorter than the client's: a statement that only the client gives up keeps its connection busy.
        statement_timeout: Math.round(queryTimeoutMs * 0.9),
        idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      }
    : undefined
  // Prepares the database, and shows whether a pooler is in between.
  const client = await connect({ ...settings, ...limits }, variable).catch((error: unknown) => {
    // A pooler that refuses the settings is asked without them.
    if (limits && SETTING_REFUSED.includes(sqlState(error) ?? '')) return connect(settings, variable)
    throw error
  })
  try {
    const found = await readSettings(client)
    // PostgreSQL has the limit that we sent, so no pooler between us has dropped it: named statements can be kept. Without limits,
    // as for staff commands, this cannot be told, and names are not needed.
    const isDirect = limits && found.statementTimeoutMs === limits.statement_timeout && !MARKED_AS_POOLER.test(url)
    const [, size = POOL_SIZE] = CONNECTION_LIMIT.exec(url) ?? []
    const pool = createPool({
      ...settings,
      max: Number(size),
      ...(isDirect && limits),
      // Behind a pooler the time includes the pooler's own connecting.
      ...(queryTimeoutMs && { query_timeout: queryTimeoutMs + (isDirect ? 0 : CONNECT_MS) }),
    })
    const name = options.name ?? `The database ${client.database} at ${client.host}:${client.port} (DATABASE_URL)`
    const adapter = new PrismaPg(pool, isDirect ? { statementNameGenerator: createStatementNames() } : {})
    const db = new PrismaClient({ adapter, errorFormat: 'minimal' }) // one line, and no stack taken for each query
    const [notes] = await Promise.all([
      applyOrCheckMigrations(client, name, options),
      db.$connect(), // loads the query compiler
      // PostgreSQL started by a staff command ends with its last connection: the pool opens one before `client` closes.
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
        const own = await connect(settings, variable)
        return work(own).finally(() => own.end())
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

function createPool(settings: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ ...settings, Client: UtcClient, keepAlive: true })
  const setConnectTimeout = (ms: number) => Object.assign(pool.options, { connectionTimeoutMillis: ms }) // read at each connect
  pool.on('error', () => {}) // of idle connections, which are replaced
  pool.on('connect', (client) => {
    client.on('error', () => {}) // a broken connection fails the query at hand, which reports it
    setConnectTimeout(CONNECT_MS)
  })
  pool.on('release', (error, client) => {
    if (isIdle(client)) return
    // Dropped: in the pool it would run the next order inside its open transaction, and the rollback would lose that order.
    client.end() // called before the handler returns, it makes pg-pool drop the connection
    if (!isConnectionLost(error)) setConnectTimeout(CONNECT_AFTER_SILENCE_MS)
  })
  return pool
}

/** Whether a connection waits for no answer and is in no transaction. */
function isIdle(client: pg.PoolClient): boolean {
  const { readyForQuery } = client as { readyForQuery?: boolean }
  return readyForQuery === true && client.getTransactionStatus() === 'I'
}

/** @param variable the one that holds the URL; none for the embedded database */
async function connect(settings: pg.ClientConfig, variable: string | undefined) {
  try {
    const client = new UtcClient(settings)
    client.on('error', () => {})
    await client.connect()
    return client
  } catch (error) {
    const cause = redact(reason(error))
    const hint = HINTS[sqlState(error) ?? cause] ?? ''
    const advice = variable ? `Check ${variable}.${hint}` : 'Does the process that serves it still answer?'
    throw new OperatorError(`The database cannot be reached: ${cause}. ${advice}`, { cause: error })
  }
}

interface Settings {
  /** Null if the login may use none of its search_path. */
  schema: string | null
  zone: string
  offsets: string
  statementTimeoutMs: number
  fsync: string
  synchronousCommit: string
  /** Standbys that confirm a commit; empty for none. */
  standbys: string
}

async function readSettings(client: pg.Client): Promise<Settings> {
  const { rows } = await client.query<Settings>(
    `SELECT current_schema() AS "schema", current_setting('TimeZone') AS "zone", setting::int AS "statementTimeoutMs",
       current_setting('fsync') AS "fsync", current_setting('synchronous_commit') AS "synchronousCommit",
       current_setting('synchronous_standby_names') AS "standbys",
       to_char(timestamptz '2026-01-01Z', 'OF') || to_char(timestamptz '2026-07-01Z', 'OF') AS "offsets"
     FROM pg_settings WHERE name = 'statement_timeout'`,
  )
  const [found] = rows
  // Prisma names the schema in its queries, and ours follow the search_path: both must mean the same tables.
  if (found?.schema && found.schema !== SCHEMA)
    throw new OperatorError(
      `The site uses the schema ${SCHEMA}, but the search_path of this login leads to ${found.schema}. Set it: ALTER ROLE … SET search_path TO ${SCHEMA}.`,
    )
  if (found?.offsets === '+00+00') return found
  throw new OperatorError(
    `Database sessions run in the time zone ${found?.zone}, which would shift every time. A pooler drops the site's setting. Set it for the role: ALTER ROLE … SET TimeZone TO 'UTC'.`,
  )
}

function warningsAbout({ fsync, synchronousCommit, standbys }: Settings): string[] {
  const isLocal = synchronousCommit === 'local' && standbys !== ''
  const unsafe = {
    ...(fsync === 'off' && { fsync }),
    ...((synchronousCommit === 'off' || isLocal) && { synchronous_commit: synchronousCommit }),
  }
  return Object.entries(unsafe).map(
    ([name, value]) =>
      `${name} is ${value} at the PostgreSQL server: confirmed orders are lost when it crashes. Set ${name} to on`,
  )
}

async function applyOrCheckMigrations(client: pg.Client, name: string, options: ConnectOptions): Promise<string[]> {
  const { migrations, directUrl, anyVersion } = options
  if (!options.migrate) return anyVersion ? [] : assertMigrated(client, name, migrations)
  if (!directUrl) return migrate(client, migrations)
  const direct = await connect({ connectionString: directUrl, ...CONNECTION }, 'DIRECT_DATABASE_URL')
  const notes = await readSettings(direct)
    .then(() => migrate(direct, migrations))
    .finally(() => direct.end())
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
