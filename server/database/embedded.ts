import { mkdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join, resolve } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { type Database, DatabaseError, type DatabaseOptions, describeMigrations, openClient } from './database.ts'
import { lockDirectory } from './directory-lock.ts'
import { migrate } from './migrations.ts'
import { serveDatabase } from './wire-bridge.ts'

/**
 * Opens the PostgreSQL that lives inside this process, with its files in `dataDir`. It survives being killed, but
 * does not call fsync, so a power cut may cost the last writes: production wants a PostgreSQL server.
 */
export async function openEmbedded(options: DatabaseOptions): Promise<Database> {
  const dataDir = resolve(options.dataDir)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const lock = await lockDirectory(dataDir)
  if (!lock) {
    throw new DatabaseError(
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
  const client = await openClient(new PrismaPGlite(lite))
  return {
    ...client,
    notes,
    close: async () => {
      await client.db.$disconnect()
      port?.close()
      lock.close()
      await lite.close()
    },
  }
}

async function open(folder: string, migrations: string) {
  const lite = await PGlite.create(folder).catch((error) => {
    throw new DatabaseError(`The embedded database in ${folder} cannot be opened: ${error.message}`, { cause: error })
  })
  return { lite, notes: describeMigrations(await migrate(lite, migrations)) }
}

async function listen(lite: PGlite, port: number): Promise<Server | undefined> {
  const server = createServer()
  serveDatabase(server, Promise.resolve(lite))
  return new Promise((done) => {
    server.once('error', () => done(undefined))
    server.listen(port, '127.0.0.1', () => done(server))
  })
}
