import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { OperatorError, scrub, sqlState } from '../errors.ts'
import { type Database, type DatabaseOptions, type Db, openClient } from './database.ts'
import { type Session, settleMigrations } from './migrations.ts'

const POOL_SIZE = 10
const CONNECT_TIMEOUT_MS = 1500
const STATEMENTS_MAX = 200
const IDLE_IN_TRANSACTION_MS = 10_000
/** PostgreSQL's code for what is none of its protocol, and poolers' for a setting they do not pass on. */
const NOT_IN_PROTOCOL = '08P01'

/** Opens a PostgreSQL server's database. */
export async function openPostgres(connectionString: string, options: DatabaseOptions): Promise<Database> {
  // The adapter reads times as if they were UTC, so the session's time zone has to be.
  const connection = { connectionString, application_name: 'quvera', options: '-c TimeZone=UTC' }
  const prepared = preparePostgres(connection, options)
  prepared.catch(() => {}) // it is waited for below
  const limits = options.queryTimeoutMs ? await limitsFor(connection, options.queryTimeoutMs) : {}
  const pool = new pg.Pool({
    ...connection,
    ...limits,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  })
  pool.on('error', (error) => options.onConnectionError?.(error))
  pool.on('release', (_error, client) => endUnlessAtRest(client))
  const [notes, db] = await Promise.all([
    prepared,
    openClient(new PrismaPg(pool, { statementNameGenerator: createStatementNames() })),
  ])
  return { db, notes, close: () => closePool(db, pool) }
}

/**
 * How long a statement may take. The server gives up first: what only the client gives up goes on waiting there, a
 * connection each. Poolers may refuse to pass that on; then the client's limit is the only one.
 */
async function limitsFor(connection: pg.ClientConfig & { options: string }, timeoutMs: number) {
  const limits = `-c statement_timeout=${Math.round(timeoutMs * 0.9)} -c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`
  const options = `${connection.options} ${limits}`
  const client = new pg.Client({ ...connection, options, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  client.on('error', () => {})
  const refusal = await client.connect().then(
    () => client.end(),
    (error: unknown) => sqlState(error),
  )
  return { query_timeout: timeoutMs, ...(refusal !== NOT_IN_PROTOCOL && { options }) }
}

/**
 * Keeps a connection that waits for an answer, or is in a transaction, from being used again: when a ROLLBACK was given
 * up before it was sent, what came next would be a part of that transaction, confirmed and taken back later.
 */
function endUnlessAtRest(client: pg.PoolClient) {
  const { readyForQuery } = client as { readyForQuery?: boolean }
  if (readyForQuery !== true || client.getTransactionStatus() !== 'I') client.end()
}

/** Opens the embedded database through the process that has it, which listens in `folder`. */
export async function joinEmbedded(folder: string, what: string, options: DatabaseOptions): Promise<Database> {
  const pool = new pg.Pool({ host: folder, user: 'postgres', database: 'postgres', max: 1 })
  const db = await openClient(new PrismaPg(pool))
  try {
    return { db, notes: await settleMigrations(sessionOf(pool), what, options), close: () => closePool(db, pool) }
  } catch (error) {
    await closePool(db, pool)
    throw error
  }
}

async function closePool(db: Db, pool: pg.Pool) {
  await db.$disconnect()
  await pool.end()
}

async function preparePostgres(connection: pg.ClientConfig, options: DatabaseOptions): Promise<string[]> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5000 })
  client.on('error', () => {}) // a broken connection fails the query at hand, which reports it
  try {
    await client.connect()
  } catch (error) {
    const cause = scrub(reason(error))
    throw new OperatorError(`The database cannot be reached: ${cause}. Check DATABASE_URL.`, { cause: error })
  }
  try {
    const zone = await client.query<{ TimeZone: string }>('SHOW TimeZone')
    if (zone.rows[0]?.TimeZone !== 'UTC') {
      throw new OperatorError(
        `Database sessions run in the time zone ${zone.rows[0]?.TimeZone}, which would shift every time. A pooler in between drops our setting: ALTER ROLE … SET TimeZone TO 'UTC'.`,
      )
    }
    const what = `The database ${client.database} at ${client.host}:${client.port} (DATABASE_URL)`
    return await settleMigrations(sessionOf(client), what, options)
  } finally {
    await client.end()
  }
}

/** @param client has one connection */
function sessionOf(client: pg.Client | pg.Pool): Session {
  return {
    query: async <T>(sql: string, parameters?: unknown[]) => {
      const { rows } = await client.query(sql, parameters)
      return { rows: rows as T[] }
    },
    exec: (script) => client.query(script),
  }
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
