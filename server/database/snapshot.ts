import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Env } from '../env.ts'
import { COPY_PREFIX } from './data-folder.ts'
import type { Db } from './database.ts'
import { linesOf } from './lines.ts'
import { withDatabase } from './open-database.ts'
import { type AppliedMigration, type Queries, quoted, readMigrations, readTables, type Table } from './tables.ts'

/** Everything that is stored, as it was at one moment. */
export interface Snapshot {
  migrations: AppliedMigration[]
  tables: Table[]
  /** The table's rows in JSON, a text each. */
  rows(table: Table): AsyncIterable<string>
}

type Work = (snapshot: Snapshot) => Promise<void>

const FETCHED_AT_ONCE = 1000
const NO_LIMIT_MS = 2 ** 31 - 1
/** The embedded database sees its folder under this name. */
const EMBEDDED_FOLDER = '/pglite/data'

/** Beside the running site, which goes on storing orders. */
export function withSnapshot(env: Pick<Env, 'DATABASE_URL' | 'DATA_DIR'>, work: Work): Promise<void> {
  return withDatabase(env, ({ db }) =>
    env.DATABASE_URL ? inTransaction(db, work) : fromCopies(db, resolve(env.DATA_DIR, 'postgres'), work),
  )
}

async function inTransaction(db: Db, work: Work) {
  await db.$transaction(
    async (transaction) => {
      await transaction.$executeRawUnsafe('SET TRANSACTION READ ONLY')
      await work({
        migrations: await readMigrations(transaction),
        tables: await readTables(transaction),
        rows: (table) => fetchRows(transaction, table),
      })
    },
    { isolationLevel: 'RepeatableRead', timeout: NO_LIMIT_MS },
  )
}

async function* fetchRows(db: Queries, { name }: Table): AsyncGenerator<string> {
  await db.$executeRawUnsafe(`DECLARE stored NO SCROLL CURSOR FOR ${selectRows(name)}`)
  for (;;) {
    const rows = await db.$queryRawUnsafe<{ line: string }[]>(`FETCH ${FETCHED_AT_ONCE} FROM stored`)
    for (const { line } of rows) yield line
    if (rows.length < FETCHED_AT_ONCE) break
  }
  await db.$executeRawUnsafe('CLOSE stored')
}

/**
 * The embedded database has one session, and while it is in a transaction orders wait. So one statement writes copies
 * of all tables beside its files, as fast as the disk goes, and they are read when the session is free again.
 */
async function fromCopies(db: Db, folder: string, work: Work) {
  const [migrations, tables] = [await readMigrations(db), await readTables(db)]
  const unique = randomUUID() // PostgreSQL's file system would not notice that a file of the same name was taken away
  const fileOf = ({ name }: Table) => `${COPY_PREFIX}${name}-${unique}`
  const copies = tables.map(
    (table) => `EXECUTE $copy$ COPY (${selectRows(table.name)}) TO '${EMBEDDED_FOLDER}/${fileOf(table)}' $copy$;`,
  )
  try {
    await db.$executeRawUnsafe(`DO $do$ BEGIN ${copies.join(' ')} END $do$`)
    await work({
      migrations,
      tables,
      rows: (table) => readCopy(join(folder, fileOf(table))),
    })
  } finally {
    for (const table of tables) await rm(join(folder, fileOf(table)), { force: true })
  }
}

/** In the text format of COPY, which doubles what JSON has of backslashes; JSON has nothing else that it changes. */
async function* readCopy(file: string): AsyncGenerator<string> {
  for await (const line of linesOf(createReadStream(file))) yield line.replaceAll('\\\\', '\\')
}

function selectRows(table: string): string {
  return `SELECT row_to_json(stored)::text AS line FROM ${quoted(table)} stored`
}
