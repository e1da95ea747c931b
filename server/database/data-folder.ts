import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { OperatorError } from '../errors.ts'
import { holdsDatabase } from './folder-check.ts'
import { sync, syncTree, unpackFolder } from './prepared-folder.ts'

/** What may be in a data folder that has no database yet: our socket, and what file systems and first starts leave. */
const OURS = new Set(['postgres', 'postgres.new', '.s.PGSQL.5432', 'lost+found'])

/** Makes the folder, for this user only. Refuses one that belongs to something else, before anything is written. */
export function claimDataFolder(dataDir: string): void {
  try {
    makeWithParents(dataDir)
    const names = readdirSync(dataDir)
    const foreign = names.filter((name) => !OURS.has(name))
    if (!names.includes('postgres') && foreign.length > 0) {
      throw new OperatorError(
        `DATA_DIR ${dataDir} holds no database of this site, but other files: ${foreign.slice(0, 3).join(', ')}. Nothing was changed. Choose an empty folder, or put the database's folder "postgres" back into it.`,
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

/** A step at a time: below a folder that takes no names, such as /proc, Node's own `recursive` never ends. */
function makeWithParents(folder: string): void {
  const make = () => {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
  }
  try {
    make()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw error
    makeWithParents(dirname(folder))
    make()
  }
}

/**
 * The folder of a whole database in `dataDir`, which this process has locked. A new one is made beside its place, and
 * takes it once everything is on the disk: what a first start that was cut short left behind is begun anew.
 * @param archive a prepared folder; where there is none `initialize` makes one
 * @throws OperatorError when there is something else, which is left as it is
 */
export async function prepareDataFolder(
  dataDir: string,
  archive: string,
  initialize: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(dataDir, 'postgres')
  if (holdsDatabase(folder)) return folder
  const unfinished = join(dataDir, 'postgres.new')
  try {
    await makeDatabase()
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new OperatorError(`No database can be made in DATA_DIR ${dataDir}: ${error.message}.`, { cause: error })
  }
  return folder

  async function makeDatabase() {
    rmSync(unfinished, { recursive: true, force: true })
    mkdirSync(unfinished, { mode: 0o700 })
    if (existsSync(archive)) unpackFolder(archive, unfinished)
    else await initialize(unfinished)
    await syncTree(unfinished)
    renameSync(unfinished, folder)
    await sync(dataDir)
  }
}
