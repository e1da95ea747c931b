import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { OperatorError } from '../errors.ts'
import { DAY_MS } from '../words.ts'
import {
  answers,
  claimFolder,
  databaseIn,
  expectDatabase,
  holdsDatabase,
  InUseError,
  locateFolder,
  lockFolder,
  socketFolder,
  socketIn,
} from './data-folder.ts'
import { type Database, type DatabaseOptions, openClient } from './database.ts'
import { EmbeddedPostgres, expectRoom, keepReserve } from './embedded-postgres.ts'
import { settleMigrations } from './migrations.ts'
import { sync, syncTree, unpackFolder } from './prepared-folder.ts'
import { DROP_COPIES } from './snapshot.ts'
import { admitClients, serveClients } from './wire-bridge.ts'

const LOOK_MS = 15_000
/** So much is read again after a kill, and lies on the disk beside the tables. */
const CHECKPOINT_BYTES = 16 * 2 ** 20
const VACUUM_MS = DAY_MS
/** For what others do through a command or Studio that has the database, and has done its own. */
const LEAVE_MS = 3000

/**
 * Opens the PostgreSQL that lives inside this process, with its files in `dataDir`, and serves it to other processes.
 * What it has answered survives kills and power cuts; one process has it to itself.
 * @throws InUseError when another process has it
 */
export async function openEmbedded(options: DatabaseOptions): Promise<Database> {
  const folder = locateFolder(options.dataDir)
  process.umask(0o077) // what PostgreSQL makes later is nobody else's business either
  if (options.migrate) claimFolder(folder)
  else expectDatabase(folder)

  await using opened = new AsyncDisposableStack() // closed in reverse, also where a later step fails
  opened.defer(lockFolder(folder)) // last: whoever has it next may open the database
  const socket = socketIn(socketFolder(folder))
  if (await answers(socket)) throw new InUseError(folder) // an older version of the site, which took no lock
  expectRoom(folder)
  const database = databaseIn(folder)
  if (!holdsDatabase(database)) {
    if (!options.migrate) expectDatabase(folder)
    await makeDatabase(database, options.preparedFolder ?? '')
  }
  const lite = await openPostgres(database)
  opened.defer(() => lite.close())
  const notes = await settleMigrations(lite, `The database in ${folder}`, options)
  await lite.query(DROP_COPIES).catch(() => {}) // what cannot go now, such as on a full disk, goes with the next backup

  await admitClients(lite)
  opened.defer(startUpkeep(lite, database)) // ends after the clients have gone, for whom it may wait
  rmSync(socket, { force: true }) // of an owner that was killed
  opened.defer(await serveClients(lite, { path: socket }, options.beside ? LEAVE_MS : 0))
  const { embeddedPort: port } = options
  if (port) {
    const endPort = await serveClients(lite, { port, host: '127.0.0.1' }).catch(() => undefined)
    if (endPort) opened.defer(endPort)
    else notes.push(`EMBEDDED_DATABASE_PORT ${port} is taken, so psql cannot reach the database there`)
  }
  lite.patienceMs = options.queryTimeoutMs
  const db = await openClient(new PrismaPGlite(lite))
  opened.defer(() => db.$disconnect())

  const all = opened.move()
  return { db, notes, close: () => all.disposeAsync() }
}

/**
 * Makes a database beside its place, which it takes once everything is on the disk: what a first start that was cut
 * short left behind is begun anew.
 * @param archive a prepared folder; where there is none PostgreSQL makes one, which takes longer
 */
async function makeDatabase(database: string, archive: string): Promise<void> {
  const unfinished = `${database}.new`
  try {
    rmSync(unfinished, { recursive: true, force: true })
    mkdirSync(unfinished, { mode: 0o700 })
    if (existsSync(archive)) unpackFolder(archive, unfinished)
    else await (await EmbeddedPostgres.open(unfinished, endProcess(unfinished))).close()
    await syncTree(unfinished)
    renameSync(unfinished, database)
    await sync(dirname(database))
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new OperatorError(`No database can be made in DATA_DIR ${dirname(database)}: ${error.message}.`, {
      cause: error,
    })
  }
}

async function openPostgres(database: string): Promise<EmbeddedPostgres> {
  return EmbeddedPostgres.open(database, endProcess(database)).catch((error: Error) => {
    const what = `The embedded database in ${database} cannot be opened: ${error.message.replace(/\.$/, '')}.`
    const remedy = `Keep the folder, and restore a backup into another DATA_DIR (docs/operations.md, "The embedded database does not open").`
    throw new OperatorError(`${what} ${remedy}`, { cause: error })
  })
}

/** PostgreSQL has given up: only a new process can open the folder again, and finds all that was answered in it. */
function endProcess(database: string) {
  return (reason: string): never => {
    console.error(
      `The embedded database in ${database} gave up: ${reason}. Nothing that was answered is lost; start the site again.`,
    )
    process.exit(1)
  }
}

/**
 * Does what a PostgreSQL server does in the background, and one inside a process does not: checkpoints, without which
 * the log of writes grows for ever, and vacuum. Returns what ends it, once nothing is written any more.
 */
function startUpkeep(lite: PGlite, database: string): () => Promise<void> {
  let looking = Promise.resolve()

  async function look() {
    await keepReserve(database)
    const { rows } = await lite.query<{ due: boolean }>(
      `SELECT pg_current_wal_insert_lsn() - redo_lsn > ${CHECKPOINT_BYTES} AS due FROM pg_control_checkpoint()`,
    )
    if (rows[0]?.due) await lite.query('CHECKPOINT')
  }
  // What cannot be done now, such as on a full disk, is due again later.
  function lookOnce() {
    looking = look().catch(() => {})
  }
  const timers = [
    setTimeout(lookOnce, 1000),
    setInterval(lookOnce, LOOK_MS),
    setInterval(() => lite.query('VACUUM (ANALYZE)').catch(() => {}), VACUUM_MS),
  ]
  for (const timer of timers) timer.unref()
  return () => {
    for (const timer of timers) clearInterval(timer)
    return looking
  }
}
