import { mkdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { OperatorError } from '../errors.ts'
import { type Database, type DatabaseOptions, openClient } from './database.ts'
import { lockDirectory } from './directory-lock.ts'
import { migrate } from './migrations.ts'
import { serveDatabase } from './wire-bridge.ts'

/**
 * Opens the PostgreSQL that lives inside this process, with its files in `dataDir`. It survives being killed, but
 * does not call fsync, so a power cut may cost the last writes: production wants a PostgreSQL server.
 */
export async function openEmbedded(options: DatabaseOptions): Promise<Database> {
  const dataDir = resolve(options.dataDir)
  await makeFolder(dataDir)
  const lock = await lockDirectory(dataDir)
  if (!lock) {
    throw new OperatorError(
      `Another process already uses the embedded database in ${dataDir}. Stop it, choose another DATA_DIR, or set DATABASE_URL to a PostgreSQL server that several may share.`,
    )
  }
  const opening = open(join(dataDir, 'postgres'), options.migrations)
  serveDatabase(
    lock,
    opening.then(({ lite }) => lite),
  )
  const { lite, notes } = await opening
  const port = options.embeddedPort ? await listen(lite, options.embeddedPort) : undefined
  if (options.embeddedPort && !port) {
    notes.push(`EMBEDDED_DATABASE_PORT ${options.embeddedPort} is taken, so psql cannot reach the database there`)
  }
  const db = await openClient(new PrismaPGlite(lite))
  return {
    db,
    notes,
    close: async () => {
      await db.$disconnect()
      port?.close()
      lock.close()
      await lite.close()
    },
  }
}

async function makeFolder(folder: string) {
  try {
    await mkdirWithParents(folder)
  } catch (error) {
    throw new OperatorError(
      `DATA_DIR ${folder} cannot be made: ${(error as Error).message}. Choose a folder that this user may write to.`,
      { cause: error },
    )
  }
}

/** A step at a time: below a folder that takes no names, such as /proc, Node's own `recursive` never ends. */
async function mkdirWithParents(folder: string): Promise<void> {
  const make = () =>
    mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  try {
    await make()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw error
    await mkdirWithParents(dirname(folder))
    await make()
  }
}

async function open(folder: string, migrations: string) {
  const lite = await PGlite.create(folder).catch((error) => {
    throw new OperatorError(`The embedded database in ${folder} cannot be opened: ${error.message}`, { cause: error })
  })
  return { lite, notes: await migrate(lite, migrations) }
}

async function listen(lite: PGlite, port: number): Promise<Server | undefined> {
  const server = createServer()
  serveDatabase(server, Promise.resolve(lite))
  return new Promise((done) => {
    server.once('error', () => done(undefined))
    server.listen(port, '127.0.0.1', () => done(server))
  })
}
