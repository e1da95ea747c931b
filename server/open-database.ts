// Where the database is: DATABASE_URL, or the embedded one in DATA_DIR, which this process starts unless another one has
// it. Either is then reached in the same way, by database/connect.ts.
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectOptions, connectDatabase } from './database/connect.ts'
import type { Database, Preparation } from './database/database.ts'
import { DROP_COPIES } from './database/snapshot.ts'
import { InUseError, SOCKET_CONNECTION, socketFolder } from './embedded/data-folder.ts'
import type { Env } from './env.ts'
import { exitFor, isConnectionLost, OperatorError } from './errors.ts'
import { emptyDatabase, migrationsFolder } from './project-root.ts'

/** How long another process may take to open or to close the embedded database. */
export const OWNER_PATIENCE_MS = 30_000
const LOOK_MS = 50
/** How long other clients may go on after the command that has the embedded database is done. */
const LEAVE_MS = 3000

export interface DatabaseOptions extends ConnectOptions {
  /** A PostgreSQL server; without it the embedded database in `dataDir` is opened. */
  url?: string | undefined
  dataDir: string
  /** Loopback port at which other programs reach the embedded database; none unless given. */
  embeddedPort?: number
  /** File from which a new embedded database is unpacked. */
  emptyDatabase?: string
  /** Connect to an embedded database that another process has, instead of being refused. */
  beside?: boolean
  /** How long to wait for another process that has the embedded database. Not at all unless given. */
  patienceMs?: number
  /** Told what happens to the embedded database. */
  warn?(words: string): void
}

/** Opens the database for a process that has it to itself, shares a server, or works beside the process that has it. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url) return connectDatabase({ connectionString: options.url }, options)
  const { beside = false, warn = console.error, patienceMs = beside ? OWNER_PATIENCE_MS : 0 } = options
  const folder = resolve(options.dataDir)
  const host = socketFolder(folder)
  let isTold = beside || patienceMs === 0
  for (const start = performance.now(); ; await sleep(LOOK_MS)) {
    try {
      return (beside && (await joinEmbedded(folder, host, options))) || (await startHere(folder, options, warn))
    } catch (error) {
      if (!(error instanceof InUseError)) throw error
      if (!isTold)
        warn(`another process has the embedded database in ${folder}: waits for it up to ${patienceMs / 1000} s`)
      isTold = true
      if (performance.now() - start >= patienceMs) throw error
    }
  }
}

/** @returns undefined where no process serves the folder, or the one that did has just gone */
async function joinEmbedded(folder: string, host: string, options: DatabaseOptions): Promise<Database | undefined> {
  try {
    const connection = { ...SOCKET_CONNECTION, host, user: 'postgres' }
    return await connectDatabase(connection, { ...options, name: nameOf(folder) })
  } catch (error) {
    if (!isNotServed(error)) throw error
  }
}

async function startHere(folder: string, options: DatabaseOptions, warn: (words: string) => void): Promise<Database> {
  const { startEmbedded } = await import('./embedded/start-embedded.ts') // code that others do not need
  const server = await startEmbedded({
    dataDir: folder,
    create: options.migrate ?? false,
    emptyDatabase: options.emptyDatabase ?? emptyDatabase(),
    port: options.embeddedPort ?? 0,
    leaveMs: options.beside ? LEAVE_MS : 0,
    warn,
    onFailure: exitFor,
  })
  try {
    const database = await connectDatabase(server.connection, { ...options, name: nameOf(folder) })
    await database.db.$executeRawUnsafe(DROP_COPIES).catch(() => {}) // of backups that were killed
    return {
      ...database,
      warnings: [...server.warnings, ...database.warnings],
      async close() {
        await database.close()
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

function nameOf(folder: string): string {
  return `The database in ${folder}`
}

/** Whether nobody listens at the socket, or who did has gone. */
function isNotServed(error: unknown): boolean {
  const reason = error instanceof OperatorError ? error.cause : error
  const { code } = Object(reason) as NodeJS.ErrnoException
  return ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EINVAL'].includes(code ?? '') || isConnectionLost(reason)
}

type Where = Pick<Env, 'DATABASE_URL' | 'DATA_DIR'> & Partial<Pick<Env, 'DIRECT_DATABASE_URL'>> & Preparation

/** Runs `work` beside the site or without it, on the database as it is there unless asked to prepare it. */
export async function withDatabase<T>(
  { DATABASE_URL: url, DIRECT_DATABASE_URL: directUrl, DATA_DIR: dataDir, migrate, anyVersion }: Where,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const migrations = migrationsFolder()
  const database = await openDatabase({ url, directUrl, dataDir, migrations, migrate, anyVersion, beside: true })
  try {
    for (const note of database.notes) console.error(note)
    return await work(database)
  } finally {
    await database.close()
  }
}
