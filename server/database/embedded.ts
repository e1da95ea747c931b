import { createServer, type Server } from 'node:net'
import { join, resolve } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { OperatorError } from '../errors.ts'
import { claimDataFolder, prepareDataFolder } from './data-folder.ts'
import { type Database, type DatabaseOptions, openClient } from './database.ts'
import { lockDirectory } from './directory-lock.ts'
import { EmbeddedPostgres, NoRoomError } from './embedded-postgres.ts'
import { migrate } from './migrations.ts'
import { DROP_COPIES } from './snapshot.ts'
import { startUpkeep } from './upkeep.ts'
import { admitClients, serveClients } from './wire-bridge.ts'

/**
 * Opens the PostgreSQL that lives inside this process, with its files in `dataDir`. What it has answered survives
 * kills and power cuts; one process has it to itself.
 */
export async function openEmbedded(options: DatabaseOptions): Promise<Database> {
  const dataDir = resolve(options.dataDir)
  process.umask(0o077) // what PostgreSQL makes later is nobody else's business either
  claimDataFolder(dataDir)
  const lock = await lockDirectory(dataDir)
  if (!lock) {
    throw new OperatorError(
      `Another process already uses the embedded database in ${dataDir}. Stop it, choose another DATA_DIR, or set DATABASE_URL to a PostgreSQL server that several may share.`,
    )
  }
  const { lite, notes } = await open(dataDir, options).catch((error: unknown) => {
    lock.close() // takes the socket away: a folder that is refused stays as it was
    throw error
  })
  await admitClients(lite)
  serveClients(lock, lite)
  const port = options.embeddedPort ? await listen(lite, options.embeddedPort) : undefined
  if (options.embeddedPort && !port) {
    notes.push(`EMBEDDED_DATABASE_PORT ${options.embeddedPort} is taken, so psql cannot reach the database there`)
  }
  const endUpkeep = startUpkeep(lite)
  const db = await openClient(new PrismaPGlite(lite))
  return {
    db,
    notes,
    close: async () => {
      endUpkeep()
      await db.$disconnect()
      port?.close()
      await lite.close()
      lock.close() // last: whoever has it next may open the folder
    },
  }
}

async function open(dataDir: string, { migrations, preparedFolder = '' }: DatabaseOptions) {
  const initialize = async (unfinished: string) => (await EmbeddedPostgres.open(unfinished, endProcess)).close()
  const folder = await prepareDataFolder(dataDir, preparedFolder, initialize)
  const lite = await EmbeddedPostgres.open(folder, endProcess).catch((error: Error) => {
    if (error instanceof NoRoomError) throw error
    const what = `The embedded database in ${folder} cannot be opened: ${error.message.replace(/\.$/, '')}.`
    const remedy = `Keep the folder, and restore a backup into another DATA_DIR (docs/operations.md, "The embedded database does not open").`
    throw new OperatorError(`${what} ${remedy}`, { cause: error })
  })
  const notes = await migrate(lite, migrations)
  await lite.query(DROP_COPIES).catch(() => {}) // what cannot go now, such as on a full disk, goes with the next backup
  return { lite, notes }

  /** PostgreSQL has given up: only a new process can open the folder again, and finds all that was answered in it. */
  function endProcess(reason: string): never {
    console.error(
      `The embedded database in ${join(dataDir, 'postgres')} gave up: ${reason}. Nothing that was answered is lost; start the site again.`,
    )
    process.exit(1)
  }
}

async function listen(lite: PGlite, port: number): Promise<Server | undefined> {
  const server = createServer()
  serveClients(server, lite)
  return new Promise((done) => {
    server.once('error', () => done(undefined))
    server.listen(port, '127.0.0.1', () => done(server))
  })
}
