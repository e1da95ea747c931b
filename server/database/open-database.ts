import { resolve } from 'node:path'
import pg from 'pg'
import type { Env } from '../env.ts'
import { migrationsFolder, preparedFolder } from '../project-root.ts'
import type { Database, DatabaseOptions } from './database.ts'
import { answers, socketIn } from './directory-lock.ts'
import { openPool, openPostgres } from './postgres.ts'

/** Opens the database that the site has to itself, or shares on a server, and brings its tables up to date. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url) return openPostgres(options.url, options)
  const { openEmbedded } = await import('./embedded.ts') // half a megabyte of code that PostgreSQL does not need
  return openEmbedded({ preparedFolder: preparedFolder(), ...options })
}

/** Runs `work` beside the site or without it: the embedded database is reached through the process that has it, if one has. */
export async function withDatabase<T>(
  env: Pick<Env, 'DATABASE_URL' | 'DATA_DIR'>,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await joinDatabase({
    url: env.DATABASE_URL,
    dataDir: env.DATA_DIR,
    migrations: migrationsFolder(),
  })
  try {
    for (const note of database.notes) console.error(note)
    return await work(database)
  } finally {
    await database.close()
  }
}

async function joinDatabase(options: DatabaseOptions): Promise<Database> {
  const folder = resolve(options.dataDir)
  if (options.url || !(await answers(socketIn(folder)))) return openDatabase(options)
  return openPool(new pg.Pool({ host: folder, user: 'postgres', database: 'postgres', max: 1 }))
}
