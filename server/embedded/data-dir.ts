// DATA_DIR: the folder of the embedded PostgreSQL. What is in it, and the checks before PostgreSQL is started on it.
import { spawnSync } from 'node:child_process'
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { OperatorError } from '../errors.ts'
import { staffCommand } from '../staff-command.ts'

const names = {
  /** The database's files, made by PostgreSQL. */
  database: 'postgres',
  /** Locked while a PostgreSQL process uses the database. Its text says who started that one, and its own number on the disk. */
  lock: 'owner.lock',
  /** The name under which psql and other clients look for the socket. */
  socket: '.s.PGSQL.5432',
}
/** Names that DATA_DIR may hold before its first start. Others show that it leads to another folder than was meant. */
const KNOWN_NAMES = [
  ...Object.values(names),
  `${names.socket}.lock`,
  `${names.database}.new`,
  'lost+found',
  '.DS_Store',
]
/** The length that every system accepts for the path of a socket. */
const SOCKET_PATH_MAX_BYTES = 103

export function pathIn(dataDir: string, what: keyof typeof names): string {
  return join(dataDir, names[what])
}

/** How clients connect, whatever PGPORT and PGSSLMODE say. */
export function socketConnection(dataDir: string) {
  return { host: dataDir, port: 5432, ssl: false, database: 'quvera' }
}

/** Another process has the database. */
export class InUseError extends OperatorError {
  constructor(dataDir: string) {
    super(
      `The database in ${dataDir} is in use by ${readOwner(dataDir)}. Stop that process, choose another DATA_DIR, or set DATABASE_URL to a PostgreSQL server that several sites may share.`,
    )
  }
}

function readOwner(dataDir: string): string {
  return readLock(dataDir)[0] || 'another process'
}

/** Who started PostgreSQL here last, and what `ls -i` said of this file then. */
function readLock(dataDir: string): string[] {
  try {
    return readFileSync(pathIn(dataDir, 'lock'), 'utf8').split('\n')
  } catch {
    return []
  }
}

/**
 * Whether the folder was copied file by file while a PostgreSQL used the database, or after one was killed: it has not ended
 * there, and the copied lock has the number that the other one has on the disk. A snapshot of a disk keeps the number.
 */
export function wasCopiedWhileUsed(dataDir: string): boolean {
  const [, listed = ''] = readLock(dataDir)
  const number = Number.parseInt(listed, 10)
  if (!number || readServerPid(pathIn(dataDir, 'database')) === undefined) return false
  return statSync(pathIn(dataDir, 'lock')).ino !== number
}

/**
 * Checks that PostgreSQL of this major version can work in DATA_DIR, before anything is written there.
 * @param create whether a database is made if there is none
 */
export function assertDataDir(dataDir: string, version: string, create: boolean): void {
  const bytes = Buffer.byteLength(pathIn(dataDir, 'socket'))
  if (bytes > SOCKET_PATH_MAX_BYTES)
    throw new OperatorError(
      `The path of DATA_DIR is too long for a socket in it, by ${bytes - SOCKET_PATH_MAX_BYTES} bytes: ${dataDir}`,
    )
  assertOwner(dataDir)
  if (existsSync(pathIn(dataDir, 'database'))) assertVersion(dataDir, version)
  else if (create) createDataDir(dataDir)
  else
    throw new OperatorError(
      `There is no database in ${dataDir} (DATA_DIR). Say with DATA_DIR or DATABASE_URL where it is, or start the site, which makes one.`,
    )
  // Started by root, PostgreSQL runs as `nobody` and may use root's files: no other program of `nobody` may reach its socket.
  if (process.getuid?.() === 0) chmodSync(dataDir, 0o700)
}

/** Files of another user would keep the owner's site from starting. */
function assertOwner(dataDir: string): void {
  const me = process.getuid?.()
  // Root: the folder itself must be root's. Other users: only the database in it must be theirs.
  const path = me === 0 ? dataDir : pathIn(dataDir, 'database')
  let owner: number | undefined
  try {
    owner = statSync(path, { throwIfNoEntry: false })?.uid
  } catch (cause) {
    throw cannotUse(dataDir, cause)
  }
  if (owner === undefined || owner === me) return
  const user = spawnSync('id', ['-nu', String(owner)], { encoding: 'utf8' }).stdout?.trim() || `#${owner}`
  throw new OperatorError(
    `${path} (DATA_DIR) belongs to the user ${user}. Run this as that user: runuser -u ${user} -- COMMAND`,
  )
}

function cannotUse(dataDir: string, cause: unknown): OperatorError {
  const { message } = cause as Error
  const remedy = `Choose a folder that belongs to this user (uid ${process.getuid?.()}).`
  return new OperatorError(`DATA_DIR ${dataDir} cannot be made or used: ${message}. ${remedy}`, { cause })
}

/** The major version of PostgreSQL that made the database in this folder; undefined if there is none. */
export function readVersion(folder: string): string | undefined {
  const file = join(folder, 'PG_VERSION')
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

/** The process id of the PostgreSQL that serves the database in this folder; undefined if there is none. */
export function readServerPid(folder: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(folder, 'postmaster.pid'), 'utf8'), 10) || undefined
  } catch {
    return undefined // a start removes the file that a killed server has left
  }
}

function assertVersion(dataDir: string, version: string): void {
  const found = readVersion(pathIn(dataDir, 'database'))
  if (found === version) return
  if (!found)
    throw new OperatorError(
      `The folder ${pathIn(dataDir, 'database')} is no database: it has no PG_VERSION. Nothing was changed. Choose another DATA_DIR, or put the database's files back.`,
    )
  throw new OperatorError(
    `The database in ${dataDir} is of PostgreSQL ${found}, and this version of the site has PostgreSQL ${version}. With the version before run \`${staffCommand('backup FILE')}\`, then with this one and an empty DATA_DIR \`${staffCommand('restore --moved FILE')}\`. Nothing was changed.`,
  )
}

/** Not by mkdir's `recursive`, which tries for ever where a folder refuses another with ENOENT, as /proc does. */
function makeFolder(path: string): void {
  const isThere = () => statSync(path, { throwIfNoEntry: false })?.isDirectory()
  if (isThere()) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!isThere()) throw error // another start may have made it
  }
}

function createDataDir(dataDir: string): void {
  try {
    makeFolder(dataDir)
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw cannotUse(dataDir, cause)
  }
  const foreign = readdirSync(dataDir).filter((name) => !KNOWN_NAMES.includes(name))
  if (foreign.length === 0) return
  throw new OperatorError(
    `DATA_DIR ${dataDir} holds no database of this site, but other files: ${foreign.slice(0, 3).join(', ')}. Nothing was changed. Choose an empty folder, or put the database's folder "${names.database}" back into it.`,
  )
}
