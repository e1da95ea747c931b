// In: where the database is (DATABASE_URL, or DATA_DIR for the embedded one), and what may be done to it first: make it,
// migrate it, or only open it. Out: Prisma's client, and what closes it. The queries are in the rooms above.
// Read next: embedded.ts (how the embedded one opens, from top to bottom; then data-folder.ts, embedded-postgres.ts),
// migrations.ts, postgres.ts (a server); when something else than the site works in it: wire-bridge.ts, snapshot.ts.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Env } from '../env.ts'
import { migrationsFolder, preparedFolder } from '../project-root.ts'
import { InUseError, locateFolder, socketFolder } from './data-folder.ts'
import type { Database, DatabaseOptions, Preparation } from './database.ts'
import { joinEmbedded, openPostgres } from './postgres.ts'

/** How long the process that has the embedded database may take to open or to close it. */
export const OWNER_PATIENCE_MS = 30_000
const LOOK_MS = 50

/** Opens the database for a process that has it to itself, shares a server, or works beside who has it. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url) return openPostgres(options.url, options)
  const folder = locateFolder(options.dataDir)
  const reached = options.beside && socketFolder(folder)
  const { ms, tell } = options.patience ?? { ms: options.beside ? OWNER_PATIENCE_MS : 0, tell: undefined }
  let isTold = false
  for (const start = performance.now(); ; await sleep(LOOK_MS)) {
    try {
      const joined = reached && (await joinEmbedded(reached, `The database in ${folder}`, options))
      if (joined) return joined
      const { openEmbedded } = await import('./embedded.ts') // half a megabyte of code that others do not need
      return await openEmbedded({ preparedFolder: preparedFolder(), ...options })
    } catch (error) {
      if (!(error instanceof InUseError)) throw error
      if (!isTold) tell?.(`another process has the embedded database in ${folder}: waits for it up to ${ms / 1000} s`)
      isTold = true
      if (performance.now() - start >= ms) throw error
    }
  }
}

type Where = Pick<Env, 'DATABASE_URL' | 'DATA_DIR'> & Partial<Pick<Env, 'DIRECT_DATABASE_URL'>> & Preparation

/** Runs `work` beside the site or without it, on the database as it is there unless asked to prepare it. */
export async function withDatabase<T>(
  { DATABASE_URL: url, DIRECT_DATABASE_URL: directUrl, DATA_DIR: dataDir, migrate, anyVersion }: Where,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const migrations = migrationsFolder()
  const database = await openDatabase({ url, directUrl, dataDir, migrations, migrate, anyVersion, beside: true })
  try {
    for (const note of database.notes) console.error(note)
    return await work(database)
  } finally {
    await database.close()
  }
}
