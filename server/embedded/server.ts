// What the worker thread does: it opens the database, creates one on the first start, and serves it at the socket.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { OperatorError } from '../errors.ts'
import { emptyDatabaseFile } from '../project-root.ts'
import { noDatabase, pathIn } from './data-dir.ts'
import { assertWholeDatabase, REMEDY } from './database-files.ts'
import { assertDiskSpace, assertRoomToOpen, createDiskSpace } from './disk-space.ts'
import { sync, syncTree, unpackFolder } from './empty-database.ts'
import { openPostgres } from './postgres.ts'
import { createSession } from './session.ts'
import { createTurns } from './turns.ts'
import { startUpkeep } from './upkeep.ts'
import { createWireServer } from './wire-server.ts'

export interface ServerOptions {
  dataDir: string
  socket: string
  /** Of the loopback address; 0 for none. */
  port: number
  /** A secret: only the site's own connections have this user name. */
  siteUser: string
  create: boolean
}

/** To the main thread. Any message tells that this thread answers. */
export type ThreadMessage =
  | { kind: 'ready' | 'alive' }
  /** The time limit of statements is off for the rest of a turn, or on again. */
  | { kind: 'timeLimit'; isOn: boolean }
  | { kind: 'warning'; text: string }
  /** Only another thread can open the database again. */
  | { kind: 'failed'; text: string }

/** @throws OperatorError, which says what to do; no table has been changed then */
export async function openServer(options: ServerOptions, send: (message: ThreadMessage) => void) {
  const { dataDir, socket, port, siteUser } = options
  const databaseFolder = pathIn(dataDir, 'database')
  rmSync(join(databaseFolder, 'base/pgsql_tmp'), { recursive: true, force: true }) // of cursors, left by a kill
  // Without `create` (most staff commands, a thread that starts again) reading and erasing must still work.
  if (options.create) assertDiskSpace(dataDir)
  else assertRoomToOpen(dataDir)
  if (!assertWholeDatabase(databaseFolder)) {
    if (!options.create) throw noDatabase(dataDir)
    await createDatabase(databaseFolder)
  }
  // A power cut may leave it empty, which PostgreSQL refuses. DATA_DIR's own lock does its work.
  rmSync(join(databaseFolder, 'postmaster.pid'), { force: true })
  const onAbort = (text: string) => send({ kind: 'failed', text })
  const postgres = await openPostgres(databaseFolder, onAbort).catch((error: Error) => {
    const what = `The embedded database in ${databaseFolder} cannot be opened: ${error.message.replace(/\.$/, '')}.`
    throw new OperatorError(`${what} Keep the folder, and ${REMEDY}.`, { cause: error })
  })
  const turns = createTurns((isOn) => send({ kind: 'timeLimit', isOn }))
  const disk = createDiskSpace(databaseFolder)
  const server = createWireServer(createSession(postgres, turns, disk), turns, siteUser)
  const endUpkeep = startUpkeep(postgres, turns, disk)
  rmSync(socket, { force: true }) // left by a killed process
  await server.listen({ path: socket })
  if (port)
    await server.listen({ port, host: '127.0.0.1' }).catch(() => {
      send({
        kind: 'warning',
        text: `EMBEDDED_DATABASE_PORT ${port} is taken, so psql cannot reach the database there`,
      })
    })
  return {
    async close(drainMs: number) {
      await server.close(drainMs)
      await endUpkeep()
      await postgres.close()
    },
  }
}

/** Under another name until it is on the disk: a first start may be interrupted. */
async function createDatabase(databaseFolder: string): Promise<void> {
  const unfinished = `${databaseFolder}.new`
  const emptyDatabase = emptyDatabaseFile()
  try {
    rmSync(unfinished, { recursive: true, force: true })
    mkdirSync(unfinished, { mode: 0o700 })
    if (existsSync(emptyDatabase)) unpackFolder(emptyDatabase, unfinished)
    else await (await openPostgres(unfinished, () => {})).close() // before the first build
    await syncTree(unfinished)
    renameSync(unfinished, databaseFolder)
    await sync(dirname(databaseFolder))
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new OperatorError(`No database can be made in DATA_DIR ${dirname(databaseFolder)}: ${error.message}.`, {
      cause: error,
    })
  }
}
