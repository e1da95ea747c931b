// Checks the files first: PostgreSQL would write to a damaged database, and create what is missing.
import { accessSync, chmodSync, constants, existsSync, lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../errors.ts'

export const REMEDY = 'restore a backup into another DATA_DIR (docs/backup.md, "Restore")'

/**
 * Checks the database in the folder, and takes the rights of other users away from its files.
 * @returns whether there is one: false when the folder is empty or not there
 * @throws OperatorError that names what is missing or damaged; nothing has been changed then
 */
export function assertWholeDatabase(databaseFolder: string): boolean {
  if (!existsSync(databaseFolder)) return false
  const files = new Map<string, Stats>()
  const add = (path: string) => {
    const full = join(databaseFolder, path)
    const stats = lstatSync(full)
    files.set(path, stats)
    assertAccess(full, stats.isDirectory() ? constants.R_OK | constants.X_OK : undefined)
    if (stats.isDirectory()) for (const name of readdirSync(full)) add(join(path, name))
  }
  add('')
  if (files.size === 1) return false // the folder itself
  const problem = findProblem(databaseFolder, files)
  if (problem) {
    throw new OperatorError(
      `The embedded database in ${databaseFolder} is not whole: ${problem}. Nothing was changed. Keep the folder, put back what is missing, or ${REMEDY}.`,
    )
  }
  for (const [path, stats] of files) {
    const mode = stats.isDirectory() ? 0o700 : 0o600
    if ((stats.mode & 0o777) !== mode) chmodSync(join(databaseFolder, path), mode)
  }
  return true
}

export function assertAccess(path: string, mode = constants.R_OK | constants.W_OK) {
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
const CATALOGUE = [1247, 1249, 1255, 1259] // pg_type, pg_attribute, pg_proc, pg_class
const DATABASES = [1262] // pg_database
/** The list in `pg_filenode.map` begins here: an object id and the number of its file, in turn. */
const MAP_ENTRIES_AT = 8

function findProblem(databaseFolder: string, files: Map<string, Stats>): string | undefined {
  const missing = NEEDED.split(' ').find((path) => !files.has(path))
  if (missing) return `${missing} is missing`
  const control = readFileSync(join(databaseFolder, 'global/pg_control'))
  if (control.length !== CONTROL_FILE_BYTES) return `global/pg_control has ${control.length} bytes instead of 8192`
  const version = Number(readFileSync(join(databaseFolder, 'PG_VERSION'), 'utf8'))
  if (!(version > 0)) return 'PG_VERSION holds no version'
  if (Math.floor(control.readUInt32LE(CONTROL_VERSION_AT) / 100) !== version)
    return `global/pg_control is not that of a PostgreSQL ${version}`

  const paths = [...files.keys()]
  if (!paths.some((path) => path.startsWith('pg_xact/'))) return 'pg_xact, the states of transactions, is missing'
  const log = paths.filter((path) => /^pg_wal\/[0-9A-F]{24}$/.test(path))
  if (log.length === 0) return 'pg_wal, the write-ahead log, is empty'
  const sizeOf = (path: string) => files.get(path)?.size ?? 0
  const size = Math.max(LOG_FILE_MIN_BYTES, ...log.map(sizeOf))
  const short = log.find((path) => sizeOf(path) !== size)
  if (short) return `${short}, of the write-ahead log, is cut short: ${sizeOf(short)} of ${size} bytes`

  const directories = paths.filter((path) => /^base\/\d+$/.test(path))
  for (const directory of [...directories, 'global']) {
    const map = `${directory}/pg_filenode.map`
    const catalogue = sizeOf(map)
      ? mappedFiles(readFileSync(join(databaseFolder, map)), directory === 'global' ? DATABASES : CATALOGUE)
      : []
    const empty = [map, ...catalogue.map((file) => `${directory}/${file}`)].find((path) => !sizeOf(path))
    if (empty) return `${empty}, a part of the catalogue, is missing or empty`
  }
}

/** The numbers of the files of these tables: VACUUM FULL and CLUSTER change them. */
function mappedFiles(map: Buffer, tables: number[]): number[] {
  const files: number[] = []
  for (let at = MAP_ENTRIES_AT; at + 8 <= map.length; at += 8)
    if (tables.includes(map.readUInt32LE(at))) files.push(map.readUInt32LE(at + 4))
  return files
}
