import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { OperatorError, scrub } from '../errors.ts'
import { type Database, type DatabaseOptions, type Db, openClient } from './database.ts'
import { type Session, settleMigrations } from './migrations.ts'

const POOL_SIZE = 10
const CONNECT_TIMEOUT_MS = 1500
const STATEMENTS_MAX = 200

/** Opens a PostgreSQL server's database. */
export async function openPostgres(connectionString: string, options: DatabaseOptions): Promise<Database> {
  // The adapter reads times as if they were UTC, so the session's time zone has to be.
  const connection = { connectionString, application_name: 'quvera', options: '-c TimeZone=UTC' }
  const pool = new pg.Pool({
    ...connection,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(options.queryTimeoutMs && { query_timeout: options.queryTimeoutMs }),
    keepAlive: true,
  })
  pool.on('error', (error) => options.onConnectionError?.(error))
  const [notes, db] = await Promise.all([
    preparePostgres(connection, options),
    openClient(new PrismaPg(pool, { statementNameGenerator: createStatementNames() })),
  ])
  return { db, notes, close: () => closePool(db, pool) }
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
