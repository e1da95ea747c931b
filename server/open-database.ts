// Opens the database at DATABASE_URL, or the embedded one in DATA_DIR.
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectOptions, connectDatabase } from './database/connect.ts'
import type { Database, Preparation } from './database/database.ts'
import { InUseError, SOCKET_CONNECTION, socketFolder } from './embedded/data-dir.ts'
import type { Env } from './env.ts'
import {
  exitWithReason,
  isConnectionLost,
  LOCK_NOT_AVAILABLE,
  OperatorError,
  propertiesOf,
  sqlState,
} from './errors.ts'
import { migrationsFolder } from './project-root.ts'

/** How long to wait while another process opens or closes the embedded database. */
export const LOCK_WAIT_MS = 30_000
const POLL_MS = 50
/** A command that started the embedded database ends when no other client has had a turn for this long. */
const LINGER_MS = 3000

export interface DatabaseOptions extends ConnectOptions {
  /** A PostgreSQL server; without it the embedded database in `dataDir` is opened. */
  url?: string | undefined
  dataDir: string
  /** Loopback port at which other programs reach the embedded database; none unless given. */
  embeddedPort?: number
  /** For messages about the embedded database. */
  warn?(message: string): void
}

/**
 * For the site: starts the embedded database in this process, or connects to the server at `url`.
 * @throws InUseError when another process has the embedded database, and keeps it for longer than `lockWaitMs`
 */
export async function openDatabase(options: DatabaseOptions & { lockWaitMs?: number }): Promise<Database> {
  const { url, lockWaitMs = 0, warn = console.error } = options
  if (url) return connectDatabase({ connectionString: url }, options)
  const dataDir = resolve(options.dataDir)
  return retryWhileInUse(
    () => startInThisProcess(dataDir, options),
    lockWaitMs,
    () => warn(`another process has the embedded database in ${dataDir}: waiting for up to ${lockWaitMs / 1000} s`),
  )
}

/**
 * For staff commands and Studio: connects to the process that uses the embedded database. If there is none, this process
 * starts it, and after its own work serves other clients until they have done theirs.
 */
export async function joinDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url) return connectDatabase({ connectionString: options.url }, options)
  const dataDir = resolve(options.dataDir)
  // The other process may end, or another one may start, between the two tries.
  const open = async () => (await joinOtherProcess(dataDir, options)) ?? startInThisProcess(dataDir, options, LINGER_MS)
  return retryWhileInUse(open, LOCK_WAIT_MS)
}

/** Repeats `open` for `waitMs` while it throws InUseError. */
async function retryWhileInUse(open: () => Promise<Database>, waitMs: number, onWait = () => {}): Promise<Database> {
  const end = performance.now() + waitMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof InUseError)) throw error
      if (isFirst && waitMs > 0) onWait()
      if (performance.now() >= end) throw error
    }
    await sleep(POLL_MS)
  }
}

/** @returns undefined when no process serves the embedded database */
async function joinOtherProcess(dataDir: string, options: DatabaseOptions): Promise<Database | undefined> {
  try {
    const connection = { ...SOCKET_CONNECTION, host: socketFolder(dataDir), user: 'postgres' }
    return await connectDatabase(connection, { ...options, name: nameOf(dataDir) })
  } catch (error) {
    if (!isUnreachable(error)) throw error
  }
}

async function startInThisProcess(dataDir: string, options: DatabaseOptions, drainMs = 0): Promise<Database> {
  const { startEmbedded } = await import('./embedded/start-embedded.ts') // loaded only where it is needed
  const server = await startEmbedded({
    dataDir,
    create: options.migrate ?? false,
    port: options.embeddedPort ?? 0,
    drainMs,
    warn: options.warn ?? console.error,
    onFailure: exitWithReason,
  })
  try {
    const database = await connectDatabase(server.connection, { ...options, name: nameOf(dataDir) })
    return {
      ...database,
      async close() {
        await database.close()
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw sqlState(error) === LOCK_NOT_AVAILABLE ? new InUseError(dataDir) : error // another client has its turn
  }
}

function nameOf(dataDir: string): string {
  return `The database in ${dataDir}`
}

/** Whether no process listens at the socket, or the one that did has ended. */
function isUnreachable(error: unknown): boolean {
  const reason = error instanceof OperatorError ? error.cause : error
  const code = String(propertiesOf(reason).code)
  return ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EINVAL'].includes(code) || isConnectionLost(reason)
}

type DatabaseLocation = Pick<Env, 'DATABASE_URL' | 'DATA_DIR'> & Partial<Pick<Env, 'DIRECT_DATABASE_URL'>> & Preparation

/** Runs `work` on the database, whether the site is running or not. */
export async function withDatabase<T>(
  { DATABASE_URL: url, DIRECT_DATABASE_URL: directUrl, DATA_DIR: dataDir, migrate, anyVersion }: DatabaseLocation,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const migrations = migrationsFolder()
  const database = await joinDatabase({ url, directUrl, dataDir, migrations, migrate, anyVersion })
  try {
    for (const note of database.notes) console.error(note)
    return await work(database)
  } finally {
    await database.close()
  }
}
