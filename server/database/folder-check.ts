import { accessSync, chmodSync, constants, existsSync, lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../errors.ts'

const CONTROL_FILE_BYTES = 8192
const CONTROL_VERSION_AT = 8
const LOG_FILE_MIN_BYTES = 2 ** 20
const LOG_FILE = /^[0-9A-F]{24}$/
const FOLDERS = [
  'base/1',
  'global',
  'pg_logical',
  'pg_multixact/members',
  'pg_multixact/offsets',
  'pg_tblspc',
  'pg_wal',
]
/** The tables of types, columns, functions and tables, which no database can do without. */
const CATALOGUE = ['1247', '1249', '1255', '1259']

/**
 * Looks whether a folder holds a whole database, before PostgreSQL does: that would begin to write, and takes what is
 * missing for what never was. Files get the modes that keep other users of the machine out.
 * @returns false for a folder that is empty or not there
 * @throws OperatorError which names what is missing or damaged; nothing has been changed then
 */
export function holdsDatabase(folder: string): boolean {
  if (!existsSync(folder)) return false
  const files = listFiles(folder)
  if (files.size === 1) return false // the folder itself
  const problem = findProblem(folder, files)
  if (problem) {
    throw new OperatorError(
      `The embedded database in ${folder} is not whole: ${problem}. Nothing was changed. Keep the folder, put back what is missing, or restore a backup into another DATA_DIR (docs/operations.md, "The embedded database does not open").`,
    )
  }
  for (const [path, stats] of files) {
    const mode = stats.isDirectory() ? 0o700 : 0o600
    if ((stats.mode & 0o777) !== mode) chmodSync(join(folder, path), mode)
  }
  return true
}

type Files = Map<string, Stats>

/** Everything in the folder, by its path in it. */
function listFiles(folder: string): Files {
  const files: Files = new Map()
  const add = (path: string) => {
    const full = join(folder, path)
    const stats = lstatSync(full)
    files.set(path, stats)
    if (!stats.isDirectory()) return accessSync(full, constants.R_OK | constants.W_OK)
    for (const name of readdirSync(full)) add(join(path, name))
  }
  try {
    add('')
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    throw new OperatorError(
      `The embedded database cannot be read: ${code} at ${path}. Nothing was changed. DATA_DIR and all in it must belong to the user of this process (uid ${process.getuid?.()}).`,
      { cause: error },
    )
  }
  return files
}

function findProblem(folder: string, files: Files): string | undefined {
  if (!files.has('PG_VERSION')) return 'PG_VERSION is missing'
  const control = files.get('global/pg_control')
  if (!control) return 'global/pg_control is missing'
  if (control.size !== CONTROL_FILE_BYTES) return `global/pg_control has ${control.size} bytes instead of 8192`
  const version = Number(readFileSync(join(folder, 'PG_VERSION'), 'utf8'))
  const controlVersion = readFileSync(join(folder, 'global/pg_control')).readUInt32LE(CONTROL_VERSION_AT)
  if (!(version > 0)) return 'PG_VERSION is empty'
  if (Math.floor(controlVersion / 100) !== version) return `global/pg_control is not that of a PostgreSQL ${version}`
  const missing = FOLDERS.find((name) => !files.get(name)?.isDirectory())
  if (missing) return `${missing} is missing`
  return findLogProblem(files) ?? findCatalogueProblem(files)
}

/** Of the log of writes and of the states of transactions. */
function findLogProblem(files: Files): string | undefined {
  const inFolder = (name: string) => [...files].filter(([path]) => path.startsWith(`${name}/`))
  if (inFolder('pg_xact').length === 0) return 'pg_xact, the states of transactions, is missing'
  const log = inFolder('pg_wal').filter(([path]) => LOG_FILE.test(path.slice('pg_wal/'.length)))
  if (log.length === 0) return 'pg_wal, the log of writes, is empty'
  const size = Math.max(...log.map(([, stats]) => stats.size))
  if (size < LOG_FILE_MIN_BYTES) return 'pg_wal, the log of writes, is cut short'
  const short = log.find(([, stats]) => stats.size !== size)
  return short && `${short[0]} is cut short: ${short[1].size} of ${size} bytes`
}

function findCatalogueProblem(files: Files): string | undefined {
  const databases = [...files.keys()].filter((path) => /^base\/\d+$/.test(path))
  const needed = databases.flatMap((database) => CATALOGUE.map((name) => `${database}/${name}`))
  const empty = [...needed, 'global/1262'].find((path) => !files.get(path)?.size)
  return empty && `${empty}, a part of the catalogue, is missing or empty`
}
