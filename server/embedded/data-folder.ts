// The folder of the embedded database, as processes share it: `postgres` is the database, `owner.lock` says who has
// it, and at the socket the owner serves everybody else.
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  type Stats,
} from 'node:fs'
import { connect } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../errors.ts'

const DATABASE = 'postgres'
const LOCK = 'owner.lock'
/** Holds nothing but room on the disk. */
export const RESERVE = 'reserve'
/** The name is PostgreSQL's own, so that `psql -h FOLDER` finds it. */
const SOCKET = '.s.PGSQL.5432'
/** What may be in a folder that has no database yet: ours, and what file systems and first starts leave. */
const OURS = new Set([DATABASE, `${DATABASE}.new`, LOCK, SOCKET, RESERVE, 'lost+found'])

/** What the environment (PGPORT, PGSSLMODE) would decide otherwise. */
export const SOCKET_CONNECTION = { port: 5432, ssl: false, database: 'postgres' }

const SOCKET_PATH_MAX_BYTES = 103
/** Of SQLite, which keeps the lock. On Linux a socket can be reached through /proc/self/fd, however long the path is. */
const PATH_MAX_BYTES = process.platform === 'linux' ? 480 : SOCKET_PATH_MAX_BYTES - SOCKET.length - 1
const LOCK_WAIT_MS = 1000
const SQLITE_BUSY = 5

/** Keeps a reference: garbage collection would release the lock. */
const held = new Set<DatabaseSync>()

export class InUseError extends OperatorError {
  constructor(folder: string) {
    super(
      `Another process already uses the embedded database in ${folder}: the site, a command or Prisma Studio. Stop it, choose another DATA_DIR, or set DATABASE_URL to a PostgreSQL server that several may share.`,
    )
  }
}

/** @throws OperatorError when the path is too long for what must be named in it */
export function locateFolder(dataDir: string): string {
  const folder = resolve(dataDir)
  const bytes = Buffer.byteLength(folder)
  if (bytes <= PATH_MAX_BYTES) return folder
  throw new OperatorError(`The path of DATA_DIR has ${bytes} bytes, and may have ${PATH_MAX_BYTES}: ${folder}`)
}

/** Where the database is, or will be. */
export function databaseIn(folder: string): string {
  return join(folder, DATABASE)
}

export function lockIn(folder: string): string {
  return join(folder, LOCK)
}

/** Makes the folder, for this user only. Refuses one that belongs to something else, before anything is written. */
export function claimFolder(folder: string): void {
  try {
    makeWithParents(folder)
    const names = readdirSync(folder)
    const foreign = names.filter((name) => !OURS.has(name))
    if (!names.includes(DATABASE) && foreign.length > 0) {
      throw new OperatorError(
        `DATA_DIR ${folder} holds no database of this site, but other files: ${foreign.slice(0, 3).join(', ')}. Nothing was changed. Choose an empty folder, or put the database's folder "${DATABASE}" back into it.`,
      )
    }
    chmodSync(folder, 0o700)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      `DATA_DIR ${folder} cannot be made or used: ${(error as Error).message}. Choose a folder that belongs to this user (uid ${process.getuid?.()}).`,
      { cause: error },
    )
  }
}

/** A step at a time: below a folder that takes no names, such as /proc, Node's own `recursive` never ends. */
function makeWithParents(folder: string): void {
  if (existsSync(folder)) return
  if (dirname(folder) !== folder) makeWithParents(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(folder)) throw error // else another process has made it just now
  }
}

/** @throws OperatorError that says where there is no database; nothing has been changed then */
export function assertDatabase(folder: string): void {
  if (existsSync(databaseIn(folder))) return
  throw new OperatorError(
    `There is no database in ${folder} (DATA_DIR). Say with DATA_DIR or DATABASE_URL where it is, or start the site, which makes one.`,
  )
}

/**
 * Takes the folder for this process, by a lock that the kernel ends with the process, however that ends: two processes
 * on one embedded database would lose rows without a word. Returns what gives it back.
 * @throws InUseError when another process has the folder
 */
export function lockFolder(folder: string): () => void {
  const path = lockIn(folder)
  if (existsSync(path)) assertAccess(path)
  const lock = new DatabaseSync(path, { timeout: LOCK_WAIT_MS })
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (Object(error).errcode !== SQLITE_BUSY) throw error
    throw new InUseError(folder)
  }
  held.add(lock)
  return () => {
    held.delete(lock)
    lock.close()
  }
}

/** A path of the folder that leaves room for the name of the socket in it. */
export function socketFolder(folder: string): string {
  if (Buffer.byteLength(join(folder, SOCKET)) <= SOCKET_PATH_MAX_BYTES || !existsSync(folder)) return folder
  return `/proc/self/fd/${openSync(folder, 'r')}` // as long as the process lives
}

export function socketIn(folder: string): string {
  return join(folder, SOCKET)
}

/** Whether a living process listens there. */
export function answers(socket: string): Promise<boolean> {
  return new Promise((done) => {
    const client = connect(socket)
    client.once('connect', () => done(true)).once('error', () => done(false))
    client.once('connect', () => client.destroy())
  })
}

/**
 * Looks whether `database` is a whole one, before PostgreSQL does: that would begin to write, and takes what is
 * missing for what never was. Files get the modes that keep other users of the machine out.
 * @returns false for a folder that is empty or not there
 * @throws OperatorError which names what is missing or damaged; nothing has been changed then
 */
export function isDatabase(database: string): boolean {
  if (!existsSync(database)) return false
  const files = new Map<string, Stats>()
  const add = (path: string) => {
    const full = join(database, path)
    const stats = lstatSync(full)
    files.set(path, stats)
    assertAccess(full, stats.isDirectory() ? constants.R_OK | constants.X_OK : undefined)
    if (stats.isDirectory()) for (const name of readdirSync(full)) add(join(path, name))
  }
  add('')
  if (files.size === 1) return false // the folder itself
  const problem = findProblem(database, files)
  if (problem) {
    throw new OperatorError(
      `The embedded database in ${database} is not whole: ${problem}. Nothing was changed. Keep the folder, put back what is missing, or restore a backup into another DATA_DIR (docs/runbook.md, "When something is wrong").`,
    )
  }
  for (const [path, stats] of files) {
    const mode = stats.isDirectory() ? 0o700 : 0o600
    if ((stats.mode & 0o777) !== mode) chmodSync(join(database, path), mode)
  }
  return true
}

function assertAccess(path: string, mode = constants.R_OK | constants.W_OK) {
  try {
    accessSync(path, mode)
  } catch (error) {
    throw new OperatorError(
      `The embedded database cannot be read: ${(error as NodeJS.ErrnoException).code} at ${path}. Nothing was changed. DATA_DIR and all in it must belong to the user of this process (uid ${process.getuid?.()}).`,
      { cause: error },
    )
  }
}

const CONTROL_FILE_BYTES = 8192
const CONTROL_VERSION_AT = 8
const LOG_FILE_MIN_BYTES = 2 ** 20
const NEEDED =
  'PG_VERSION global/pg_control base/1 pg_logical pg_multixact/members pg_multixact/offsets pg_tblspc pg_wal'
/** The tables of types, columns, functions and tables, which no database can do without. */
const CATALOGUE = ['1247', '1249', '1255', '1259']

/** @param files all that is in the folder, by its path there */
function findProblem(folder: string, files: Map<string, Stats>): string | undefined {
  const missing = NEEDED.split(' ').find((path) => !files.has(path))
  if (missing) return `${missing} is missing`
  const control = readFileSync(join(folder, 'global/pg_control'))
  if (control.length !== CONTROL_FILE_BYTES) return `global/pg_control has ${control.length} bytes instead of 8192`
  const version = Number(readFileSync(join(folder, 'PG_VERSION'), 'utf8'))
  if (!(version > 0)) return 'PG_VERSION is empty'
  if (Math.floor(control.readUInt32LE(CONTROL_VERSION_AT) / 100) !== version)
    return `global/pg_control is not that of a PostgreSQL ${version}`

  const paths = [...files.keys()]
  if (!paths.some((path) => path.startsWith('pg_xact/'))) return 'pg_xact, the states of transactions, is missing'
  const log = paths.filter((path) => /^pg_wal\/[0-9A-F]{24}$/.test(path))
  if (log.length === 0) return 'pg_wal, the log of writes, is empty'
  const sizeOf = (path: string) => files.get(path)?.size ?? 0
  const size = Math.max(LOG_FILE_MIN_BYTES, ...log.map(sizeOf))
  const short = log.find((path) => sizeOf(path) !== size)
  if (short) return `${short}, of the log of writes, is cut short: ${sizeOf(short)} of ${size} bytes`

  const databases = paths.filter((path) => /^base\/\d+$/.test(path))
  const catalogue = databases.flatMap((database) => CATALOGUE.map((name) => `${database}/${name}`))
  const empty = [...catalogue, 'global/1262'].find((path) => !sizeOf(path))
  return empty && `${empty}, a part of the catalogue, is missing or empty`
}
