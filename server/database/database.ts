import { resolve } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import type { PrismaPGlite } from 'pglite-prisma-adapter'
import { answers, socketIn } from './directory-lock.ts'
import { PrismaClient } from './generated/client.ts'
import { migrate } from './migrations.ts'

export type Db = PrismaClient

/** Runs one statement with one text as its parameter. Returns how many rows it wrote. */
export type Execute = (sql: string, parameter: string) => Promise<number>

export interface Database {
  db: Db
  /** Through Prisma's adapter and past its client, for the one statement that a busy site repeats: a tenth more orders. */
  execute: Execute
  /** What there is to say of the start: the migrations applied, and those that a newer server left behind. */
  notes: string[]
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** A PostgreSQL server; without it the embedded database in `dataDir` is opened. */
  url?: string | undefined
  dataDir: string
  /** Loopback port at which other programs reach the embedded database; 0 for none. */
  embeddedPort: number
  /** Folder of the migrations to apply. */
  migrations: string
  /** Problems of idle connections, which no query reports. */
  onConnectionError?: (error: Error) => void
}

/** The database cannot be used as it is; the message says why, in one line. */
export class DatabaseError extends Error {}

const POOL_SIZE = 10
// Together below the three seconds after which a visitor is told that the order was not stored.
const CONNECT_TIMEOUT_MS = 1500
const QUERY_TIMEOUT_MS = 2000
const STATEMENTS_MAX = 200

/** Opens the database and brings its tables up to date. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url) return openPostgres(options.url, options)
  const { openEmbedded } = await import('./embedded.ts') // half a megabyte of code that PostgreSQL needs not wait for
  return openEmbedded(options)
}

/** Opens the database for a command beside the site: the embedded one through the process that has it, if one has. */
export async function joinDatabase(options: DatabaseOptions): Promise<Database> {
  const folder = resolve(options.dataDir)
  if (options.url || !(await answers(socketIn(folder)))) return openDatabase(options)
  return connect(new pg.Pool({ host: folder, user: 'postgres', database: 'postgres', max: 1 }))
}

async function openPostgres(connectionString: string, options: DatabaseOptions): Promise<Database> {
  // The adapter reads times as if they were UTC, so the session's time zone has to be.
  const connection = { connectionString, application_name: 'quvera', options: '-c TimeZone=UTC' }
  const pool = new pg.Pool({
    ...connection,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
  })
  pool.on('error', (error) => options.onConnectionError?.(error))
  const [notes, connected] = await Promise.all([
    migratePostgres(connection, options.migrations),
    connect(pool, createStatementNames()),
  ])
  return { ...connected, notes }
}

async function connect(pool: pg.Pool, statementNameGenerator?: StatementNames): Promise<Database> {
  const client = await openClient(new PrismaPg(pool, { ...(statementNameGenerator && { statementNameGenerator }) }))
  return {
    ...client,
    notes: [],
    close: async () => {
      await client.db.$disconnect()
      await pool.end()
    },
  }
}

/** The two ways to a database: Prisma's client for nearly all, and the adapter under it. */
export async function openClient(adapter: PrismaPg | PrismaPGlite): Promise<Pick<Database, 'db' | 'execute'>> {
  const db = new PrismaClient({ adapter, errorFormat: 'minimal' }) // one line, and no stack taken for each query
  await db.$connect() // loads the query compiler: while PostgreSQL answers, and not with the first query
  const direct = await adapter.connect()
  return {
    db,
    execute: (sql, parameter) =>
      direct.executeRaw({ sql, args: [parameter], argTypes: [{ scalarType: 'string', arity: 'scalar' }] }),
  }
}

async function migratePostgres(connection: pg.ClientConfig, folder: string): Promise<string[]> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5000 })
  client.on('error', () => {}) // a broken connection fails the query at hand, which reports it
  try {
    await client.connect()
  } catch (error) {
    throw new DatabaseError(`The database cannot be reached: ${reason(error)}. Check DATABASE_URL.`, { cause: error })
  }
  try {
    const zone = await client.query<{ TimeZone: string }>('SHOW TimeZone')
    if (zone.rows[0]?.TimeZone !== 'UTC') {
      throw new DatabaseError(
        `Database sessions run in the time zone ${zone.rows[0]?.TimeZone}, which would shift every time. A pooler in between drops our setting: ALTER ROLE … SET TimeZone TO 'UTC'.`,
      )
    }
    return describeMigrations(
      await migrate(
        {
          query: async <T>(sql: string, parameters?: unknown[]) => {
            const { rows } = await client.query(sql, parameters)
            return { rows: rows as T[] }
          },
          exec: (script) => client.query(script),
        },
        folder,
      ),
    )
  } finally {
    await client.end()
  }
}

export function describeMigrations({ applied, unknown }: Awaited<ReturnType<typeof migrate>>): string[] {
  return [
    ...applied.map((name) => `applied migration ${name}`),
    ...unknown.map((name) => `the database has migration ${name}, which this version does not know`),
  ]
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

/** PostgreSQL's own code for what went wrong, if it was PostgreSQL that answered. */
export function sqlState(error: unknown): string | undefined {
  const { code, originalCode, cause, meta } = Object(error) as Record<string, unknown>
  for (const value of [originalCode, code])
    if (typeof value === 'string' && /^(?!P[1-9])[0-9A-Z]{5}$/.test(value)) return value
  const inner = cause ?? Object(meta).driverAdapterError
  return inner ? sqlState(inner) : undefined
}
