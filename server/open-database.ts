// Opens the database at DATABASE_URL, or the embedded one in DATA_DIR. This process starts the embedded one, unless
// another process has it.
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectOptions, connectDatabase } from './database/connect.ts'
import type { Database, Preparation } from './database/database.ts'
import { LOCK_NOT_AVAILABLE } from './database/migrations.ts'
import { InUseError, SOCKET_CONNECTION, socketFolder } from './embedded/data-folder.ts'
import type { Env } from './env.ts'
import { exitWithReason, isConnectionLost, OperatorError, propertiesOf, sqlState } from './errors.ts'
import { migrationsFolder } from './project-root.ts'

/** How long to wait while another process opens or closes the embedded database. */
export const LOCK_WAIT_MS = 30_000
const POLL_MS = 50
/** How long a command that started the embedded database serves other clients after its own work. */
const LINGER_MS = 3000

export interface DatabaseOptions extends ConnectOptions {
  /** A PostgreSQL server; without it the embedded database in `dataDir` is opened. */
  url?: string | undefined
  dataDir: string
  /** Loopback port at which other programs reach the embedded database; none unless given. */
  embeddedPort?: number
  /**
   * If another process has the embedded database, connect to it. Otherwise start it here, and serve other clients a little
   * longer than the own work takes.
   */
  joinRunning?: boolean
  /** How long to wait for another process that opens or closes the embedded database; 0 unless given. */
  lockWaitMs?: number
  /** For messages about the embedded database. */
  warn?(message: string): void
}

/** @throws InUseError when another process has the embedded database, unless asked to join it */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url) return connectDatabase({ connectionString: options.url }, options)
  const folder = resolve(options.dataDir)
  const { joinRunning = false, lockWaitMs = joinRunning ? LOCK_WAIT_MS : 0, warn = console.error } = options
  if (joinRunning) {
    // The other process may end, or another one may start, between the two tries.
    const open = async () => (await joinOtherProcess(folder, options)) ?? startInThisProcess(folder, options, warn)
    return retryWhileInUse(open, lockWaitMs)
  }
  return retryWhileInUse(
    () => startInThisProcess(folder, options, warn),
    lockWaitMs,
    () => warn(`another process has the embedded database in ${folder}: waiting for up to ${lockWaitMs / 1000} s`),
  )
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

/** @returns undefined when no process serves the folder */
async function joinOtherProcess(folder: string, options: DatabaseOptions): Promise<Database | undefined> {
  try {
    const connection = { ...SOCKET_CONNECTION, host: socketFolder(folder), user: 'postgres' }
    return await connectDatabase(connection, { ...options, name: nameOf(folder) })
  } catch (error) {
    if (!isUnreachable(error)) throw error
  }
}

async function startInThisProcess(
  folder: string,
  options: DatabaseOptions,
  warn: (message: string) => void,
): Promise<Database> {
  const { startEmbedded } = await import('./embedded/start-embedded.ts') // loaded only where it is needed
  const server = await startEmbedded({
    dataDir: folder,
    create: options.migrate ?? false,
    port: options.embeddedPort ?? 0,
    drainMs: options.joinRunning ? LINGER_MS : 0,
    warn,
    onFailure: exitWithReason,
  })
  try {
    const database = await connectDatabase(server.connection, { ...options, name: nameOf(folder) })
    return {
      ...database,
      async close() {
        await database.close()
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw sqlState(error) === LOCK_NOT_AVAILABLE ? new InUseError(folder) : error // a client was faster
  }
}

function nameOf(folder: string): string {
  return `The database in ${folder}`
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
  const database = await openDatabase({ url, directUrl, dataDir, migrations, migrate, anyVersion, joinRunning: true })
  try {
    for (const note of database.notes) console.error(note)
    return await work(database)
  } finally {
    await database.close()
  }
}
