import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { OperatorError, scrub } from '../errors.ts'
import { type Database, type DatabaseOptions, openClient } from './database.ts'
import { migrate } from './migrations.ts'

const POOL_SIZE = 10
const CONNECT_TIMEOUT_MS = 1500
const STATEMENTS_MAX = 200

/** Opens a PostgreSQL server's database and brings its tables up to date. */
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
  const [notes, connected] = await Promise.all([
    migratePostgres(connection, options.migrations),
    openPool(pool, createStatementNames()),
  ])
  return { ...connected, notes }
}

/** A database whose tables are up to date already. */
export async function openPool(pool: pg.Pool, statementNameGenerator?: StatementNames): Promise<Database> {
  const db = await openClient(new PrismaPg(pool, { ...(statementNameGenerator && { statementNameGenerator }) }))
  return {
    db,
    notes: [],
    close: async () => {
      await db.$disconnect()
      await pool.end()
    },
  }
}

async function migratePostgres(connection: pg.ClientConfig, folder: string): Promise<string[]> {
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
    return await migrate(
      {
        query: async <T>(sql: string, parameters?: unknown[]) => {
          const { rows } = await client.query(sql, parameters)
          return { rows: rows as T[] }
        },
        exec: (script) => client.query(script),
      },
      folder,
    )
  } finally {
    await client.end()
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
