// Opens the database at DATABASE_URL, or the embedded one in DATA_DIR.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { InUseError, pathIn, socketConnection } from '../embedded/data-dir.ts'
import type { Env } from '../env.ts'
import { exitWithReason, OperatorError } from '../errors.ts'
import { openConnection } from './connection.ts'
import type { Database, Preparation } from './database.ts'
import { isDatabaseAway } from './errors.ts'
import { applyRoles, migrate } from './migrations.ts'
import { type ConnectOptions, connectDatabase } from './pool.ts'

/** How long to wait while another process uses, starts or ends the embedded database. */
const LOCK_WAIT_SECONDS = 30
const POLL_MS = 100
const EARLIER = '. There are backups in BACKUP_DIR: the enquiries of before are elsewhere. Check DATA_DIR and its disk'

interface DatabaseOptions extends ConnectOptions {
  /** A PostgreSQL server; without it the embedded database in `dataDir` is opened. */
  url?: string | undefined
  dataDir: string
  /** For messages about the embedded database. */
  warn?(message: string): void
}

/**
 * For the site. The embedded database is started and brought up to date by its owner; the site logs in as quvera_app.
 * @param options.isExpected whether a new database may be made without a word about earlier enquiries
 * @throws InUseError when another process keeps the embedded database for longer than `lockWaitSeconds`
 */
export async function openForSite(
  options: DatabaseOptions & { isExpected?: boolean; lockWaitSeconds?: number; settings?: Record<string, string> },
): Promise<Database> {
  const { url, lockWaitSeconds = LOCK_WAIT_SECONDS, settings, warn = console.error } = options
  if (url) return connectDatabase({ connectionString: url }, options)
  const { startEmbedded } = await import('../embedded/postgres.ts') // loaded only where it is needed
  const dataDir = resolve(options.dataDir)
  const isNew = !existsSync(pathIn(dataDir, 'database'))
  const start = (seconds: number) =>
    startEmbedded({ dataDir, create: true, lockWaitSeconds: seconds, settings, warn, onFailure: exitWithReason })
  // The first try does not wait: if it fails, the wait is announced.
  const postgres = await start(0).catch((error) => {
    if (!(error instanceof InUseError) || lockWaitSeconds === 0) throw error
    warn(`another process has the database in ${dataDir}: waiting for up to ${lockWaitSeconds} s`)
    return start(lockWaitSeconds)
  })
  if (isNew) warn(`made a new, empty database in ${dataDir} (DATA_DIR)${options.isExpected === false ? EARLIER : ''}`)
  try {
    const notes = await migrateAsOwner(dataDir, options.migrations)
    const database = await connectDatabase(
      { ...socketConnection(dataDir), user: 'quvera_app' },
      { ...options, migrate: false, name: nameOf(dataDir) },
    )
    return { ...database, notes, close: () => database.close().finally(() => postgres.stop('SIGINT')) }
  } catch (error) {
    await postgres.stop('SIGINT')
    throw error
  }
}

/**
 * For staff commands and Studio, which are the owner of the embedded database. If no process serves it, this one starts
 * PostgreSQL, and ends it after its own work and that of other clients.
 */
export async function openForCommand(options: DatabaseOptions): Promise<Database> {
  if (options.url) return connectDatabase({ connectionString: options.url }, options)
  const dataDir = resolve(options.dataDir)
  const end = performance.now() + LOCK_WAIT_SECONDS * 1000
  while (true) {
    try {
      return (await connectAsOwner(dataDir, options)) ?? (await startForCommand(dataDir, options))
    } catch (error) {
      // Another process starts or ends PostgreSQL just now.
      if (!(error instanceof InUseError) || performance.now() >= end) throw error
    }
    await sleep(POLL_MS)
  }
}

/** @returns undefined when no process serves the embedded database */
async function connectAsOwner(dataDir: string, options: DatabaseOptions): Promise<Database | undefined> {
  try {
    const notes = options.migrate ? await migrateAsOwner(dataDir, options.migrations) : []
    const owner = { ...socketConnection(dataDir), user: 'quvera' }
    const database = await connectDatabase(owner, { ...options, migrate: false, name: nameOf(dataDir) })
    return { ...database, notes: [...notes, ...database.notes] }
  } catch (error) {
    // openConnection() wraps the failure. If its cause is that nobody listens, no process serves the database.
    if (!isDatabaseAway(error instanceof OperatorError ? error.cause : error)) throw error
  }
}

async function startForCommand(dataDir: string, options: DatabaseOptions): Promise<Database> {
  const { startEmbedded } = await import('../embedded/postgres.ts')
  const { create = false, warn = console.error } = options
  const postgres = await startEmbedded({ dataDir, create, warn, onFailure: exitWithReason })
  try {
    const database = await connectAsOwner(dataDir, options)
    if (!database) throw new OperatorError(`The database in ${dataDir} was started, but cannot be reached.`)
    return { ...database, close: () => database.close().finally(() => postgres.stop('SIGTERM')) }
  } catch (error) {
    await postgres.stop('SIGTERM')
    throw error
  }
}

/** Applies migrations and grants rights, as the commands in docs/deploy.md do for a PostgreSQL server. */
async function migrateAsOwner(dataDir: string, migrations?: string): Promise<string[]> {
  const owner = await openConnection({ ...socketConnection(dataDir), user: 'quvera' })
  try {
    const notes = await migrate(owner, migrations)
    await applyRoles(owner)
    return notes
  } finally {
    await owner.end()
  }
}

function nameOf(dataDir: string): string {
  return `The database in ${dataDir}`
}

type DatabaseLocation = Pick<Env, 'DATABASE_URL' | 'DATA_DIR'> & Partial<Pick<Env, 'DIRECT_DATABASE_URL'>> & Preparation

/** Runs `work` on the database, whether the site is running or not. */
export async function withDatabase<T>(
  location: DatabaseLocation,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const { DATABASE_URL: url, DIRECT_DATABASE_URL: directUrl, DATA_DIR: dataDir, create, migrate, anyVersion } = location
  const database = await openForCommand({ url, directUrl, dataDir, create, migrate, anyVersion })
  try {
    for (const note of database.notes) console.error(note)
    return await work(database)
  } finally {
    await database.close()
  }
}
