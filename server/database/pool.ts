// Opens a pool of connections to a PostgreSQL server, directly or through a pooler. Decision 0011 says how.

import { setTimeout as sleep } from 'node:timers/promises'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import type { Logger } from 'pino'
import { describeFailure, exitWithReason, OperatorError } from '../errors.ts'
import { isPooled, openConnection, withSettings } from './connection.ts'
import type { Database } from './database.ts'
import { isDatabaseAway, NOT_CHECKED, sqlState, TOO_MANY_CONNECTIONS } from './errors.ts'
import { PrismaClient } from './generated/client.ts'
import { applyOrCheckMigrations, type MigrationOptions } from './migrations.ts'
import { readSession, warningsAbout } from './session.ts'

const POOL_SIZE = 10
/** Also Prisma's convention: the size of the pool. */
const CONNECTION_LIMIT = /[?&]connection_limit=([1-9]\d{0,3})(&|$)/
/** How long opening a connection may take, so that orders fail soon. They are tried again while a suspended database wakes up. */
const POOL_CONNECT_MS = 2500
/** A pooler's own connecting counts as time of a statement. */
const POOLER_CONNECT_MS = 5000
const STATEMENTS_MAX = 200
/** A database that cannot be reached at the start of the site is tried again at this interval. */
const RETRY_MS = 2000

export interface ConnectOptions extends MigrationOptions {
  /** No limit unless given. */
  queryTimeoutMs?: number
  /** For messages; its address unless given. */
  name?: string
  /** What else must hold of the database. @throws OperatorError */
  check?(client: pg.Client): Promise<void>
  /** Of the site: a database that cannot be reached is tried again. Meanwhile what is asked of it fails. */
  keepTrying?: Logger
}

/** @throws OperatorError when the database is not as it must be, or cannot be reached and `keepTrying` is not given */
export async function connectDatabase(connection: pg.ClientConfig, options: ConnectOptions): Promise<Database> {
  const { queryTimeoutMs = 0, keepTrying } = options
  const url = connection.connectionString ?? ''
  const variable = url ? 'DATABASE_URL' : undefined
  const [, size = POOL_SIZE] = CONNECTION_LIMIT.exec(url) ?? []
  // Shorter than the client's: a statement that only the client gives up keeps its connection busy.
  const statementMs = Math.round(queryTimeoutMs * 0.9)
  let isPrepared = false
  let isClosed = false
  const pool = createPool({
    ...withSettings(connection, statementMs),
    max: Number(size),
    ...(queryTimeoutMs && { query_timeout: queryTimeoutMs + (isPooled(url) ? POOLER_CONNECT_MS : 0) }),
    onConnect() {
      if (!isPrepared) throw new Error(NOT_CHECKED)
    },
  })
  const adapter = new PrismaPg(pool, isPooled(url) ? {} : { statementNameGenerator: createStatementNames() })
  const db = new PrismaClient({ adapter, errorFormat: 'minimal' }) // one line, and no stack taken for each query

  async function prepare() {
    const client = await openConnection(connection, variable, statementMs)
    try {
      const session = await readSession(client, variable, isPooled(url) ? undefined : statementMs)
      const name = options.name ?? `The database ${client.database} at ${client.host}:${client.port} (DATABASE_URL)`
      const notes = await applyOrCheckMigrations(client, name, options)
      await options.check?.(client)
      isPrepared = true
      // PostgreSQL started by a staff command ends with its last connection: the pool opens one before `client` closes.
      await pool.connect().then((first) => first.release())
      return { notes, warnings: warningsAbout(session, isPooled(url)) }
    } finally {
      await client.end()
    }
  }
  async function prepareLater(log: Logger) {
    while (!isClosed) {
      await sleep(RETRY_MS, undefined, { ref: false })
      const found = await prepare().catch((error: unknown) => {
        if (!mayPass(error)) throw error
      })
      if (found) return logDatabase(found, log)
    }
  }
  // With `keepTrying` and without a database it has no findings: `prepareLater` logs them.
  const first = prepare().catch(async (error: unknown) => {
    if (keepTrying && mayPass(error)) {
      keepTrying.error(`${describeFailure(error)} Until it can be reached, pages are served and orders are refused`)
      prepareLater(keepTrying).catch((reason) => isClosed || exitWithReason(reason)) // it is not as it must be
      return { notes: [], warnings: [] }
    }
    await pool.end()
    throw error
  })
  const [found] = await Promise.all([first, db.$connect()]) // which loads the query compiler
  return {
    db,
    ...found,
    async withClient(work) {
      if (!isPrepared) throw new OperatorError(`${NOT_CHECKED}.`)
      const own = await openConnection(connection, variable)
      return work(own).finally(() => own.end())
    },
    async close() {
      isClosed = true
      await db.$disconnect()
      await pool.end()
    },
  }
}

export function logDatabase({ notes, warnings }: Pick<Database, 'notes' | 'warnings'>, log: Logger): void {
  for (const note of notes) log.info(note)
  for (const warning of warnings) log.warn(warning)
}

function createPool(settings: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ ...settings, connectionTimeoutMillis: POOL_CONNECT_MS, keepAlive: true })
  pool.on('error', () => {}) // of idle connections, which are replaced
  pool.on('connect', (client) => void client.on('error', () => {})) // fails the query at hand, which reports it
  // A transaction whose end was not answered: in the pool the connection would run the next order inside it, and the rollback
  // would lose that order. One that ends in this event is dropped by the pool.
  pool.on('release', (_error, client) => void (client.getTransactionStatus() !== 'I' && client.end()))
  return pool
}

/** Whether the database cannot be reached now. */
function mayPass(error: unknown): boolean {
  const cause = error instanceof OperatorError ? error.cause : error
  return isDatabaseAway(cause) || sqlState(cause) === TOO_MANY_CONNECTIONS
}

/** A statement with a name is parsed and planned once for each connection. */
function createStatementNames(): (query: { sql: string }) => string {
  const names = new Map<string, string>()
  return ({ sql }) => {
    if (!names.has(sql) && names.size < STATEMENTS_MAX) names.set(sql, `quvera_${names.size}`)
    return names.get(sql) ?? ''
  }
}
