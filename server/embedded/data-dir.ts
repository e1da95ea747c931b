// The folder of the embedded database (DATA_DIR): what is in it, and the lock that gives it to one process at a time.
import { chmodSync, existsSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../errors.ts'
import { assertAccess } from './database-files.ts'

const names = {
  database: 'postgres',
  /** Locked by the process that has DATA_DIR. */
  lock: 'owner.lock',
  /** Deleted when the disk is full (disk-space.ts). */
  reserve: 'reserve',
  /** PostgreSQL's name, so that `psql -h DATA_DIR` finds it. */
  socket: '.s.PGSQL.5432',
}
/** What may be there without a database. */
const KNOWN_NAMES = new Set([...Object.values(names), `${names.database}.new`, 'lost+found'])

/** Fixed, so that PGPORT and PGSSLMODE do not apply. */
export const SOCKET_CONNECTION = { port: 5432, ssl: false, database: 'postgres' }

const SOCKET_PATH_MAX_BYTES = 103
/** SQLite's limit on Linux, where longer paths of sockets are reached through /proc/self/fd. */
const PATH_MAX_BYTES = process.platform === 'linux' ? 480 : SOCKET_PATH_MAX_BYTES - names.socket.length - 1
const SQLITE_WAIT_MS = 1000
const SQLITE_BUSY = 5

/** Keeps a reference to each lock: garbage collection would release it. */
const locks = new Set<DatabaseSync>()

export class InUseError extends OperatorError {
  constructor(dataDir: string) {
    super(
      `Another process already uses the embedded database in ${dataDir}: another server or a staff command (not Prisma Studio, which closes the database when it is idle). Stop it, choose another DATA_DIR, or set DATABASE_URL to a PostgreSQL server that several may share.`,
    )
  }
}

export function pathIn(dataDir: string, what: keyof typeof names): string {
  return join(dataDir, names[what])
}

export function assertPathLength(dataDir: string): void {
  const bytes = Buffer.byteLength(dataDir)
  if (bytes > PATH_MAX_BYTES)
    throw new OperatorError(`The path of DATA_DIR has ${bytes} bytes, and may have ${PATH_MAX_BYTES}: ${dataDir}`)
}

/** A path of DATA_DIR that leaves room for the socket's name. */
export function socketFolder(dataDir: string): string {
  assertPathLength(dataDir)
  if (Buffer.byteLength(pathIn(dataDir, 'socket')) <= SOCKET_PATH_MAX_BYTES) return dataDir
  return existsSync(dataDir) ? `/proc/self/fd/${openSync(dataDir, 'r')}` : dataDir // open as long as the process lives
}

/** @throws OperatorError where it holds something else than a database of this site, before anything is written */
export function createDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const present = readdirSync(dataDir)
    const foreign = present.filter((name) => !KNOWN_NAMES.has(name))
    if (!present.includes(names.database) && foreign.length > 0) {
      throw new OperatorError(
        `DATA_DIR ${dataDir} holds no database of this site, but other files: ${foreign.slice(0, 3).join(', ')}. Nothing was changed. Choose an empty folder, or put the database's folder "${names.database}" back into it.`,
      )
    }
    chmodSync(dataDir, 0o700)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      `DATA_DIR ${dataDir} cannot be made or used: ${(error as Error).message}. Choose a folder that belongs to this user (uid ${process.getuid?.()}).`,
      { cause: error },
    )
  }
}

export function noDatabase(dataDir: string): OperatorError {
  return new OperatorError(
    `There is no database in ${dataDir} (DATA_DIR). Say with DATA_DIR or DATABASE_URL where it is, or start the site, which makes one.`,
  )
}

/** Whether a process listens at the socket. */
export function isServed(socket: string): Promise<boolean> {
  return new Promise((done) => {
    const client = connect(socket)
    client.once('connect', () => done(true)).once('error', () => done(false))
    client.once('connect', () => client.destroy())
  })
}

/**
 * Two processes on one embedded database would lose rows. The kernel releases the lock when the process ends, however it
 * ends. Returns a function that releases it.
 * @throws InUseError when another process has DATA_DIR
 */
export function lockDataDir(dataDir: string): () => void {
  const path = pathIn(dataDir, 'lock')
  if (existsSync(path)) assertAccess(path)
  const lock = new DatabaseSync(path, { timeout: SQLITE_WAIT_MS })
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (Object(error).errcode !== SQLITE_BUSY) throw error
    throw new InUseError(dataDir)
  }
  locks.add(lock)
  return () => {
    locks.delete(lock)
    lock.close()
  }
}
