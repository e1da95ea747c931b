import type { Env } from '../env.ts'
import type { Db } from './database.ts'
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
/** Of the copies, beside the tables' own. */
export const COPIES = 'backup_copies'
/** Some thousand rows, which the session is taken for at a time. */
const PAGES_AT_ONCE = 15

/** Beside the running site, which goes on storing orders. */
export function withSnapshot(env: Pick<Env, 'DATABASE_URL' | 'DATA_DIR'>, work: Work): Promise<void> {
  return withDatabase(env, ({ db }) => (env.DATABASE_URL ? inTransaction(db, work) : fromCopies(db, work)))
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
  await db.$executeRawUnsafe(`DECLARE stored NO SCROLL CURSOR FOR ${selectRows(quoted(name))}`)
  for (;;) {
    const rows = await db.$queryRawUnsafe<{ line: string }[]>(`FETCH ${FETCHED_AT_ONCE} FROM stored`)
    for (const { line } of rows) yield line
    if (rows.length < FETCHED_AT_ONCE) break
  }
  await db.$executeRawUnsafe('CLOSE stored')
}

/**
 * The embedded database has one session, and while it is in a transaction orders wait. So one statement copies all
 * tables, ten times as fast as they can be written out, and the copies are read a piece at a time between orders.
 * Those of a backup that was killed go when the next one begins.
 */
async function fromCopies(db: Db, work: Work) {
  const [migrations, tables] = [await readMigrations(db), await readTables(db)]
  const begin = [`DROP SCHEMA IF EXISTS ${COPIES} CASCADE`, `CREATE SCHEMA ${COPIES}`]
  const copies = tables.map(({ name }) => `CREATE UNLOGGED TABLE ${copyOf(name)} AS TABLE ${quoted(name)}`)
  try {
    await db.$executeRawUnsafe(`DO $do$ BEGIN ${[...begin, ...copies].map((sql) => `${sql};`).join(' ')} END $do$`)
    await work({ migrations, tables, rows: (table) => readCopy(db, table) })
  } finally {
    await db.$executeRawUnsafe(`DROP SCHEMA IF EXISTS ${COPIES} CASCADE`)
  }
}

async function* readCopy(db: Queries, { name }: Table): AsyncGenerator<string> {
  const [size] = await db.$queryRawUnsafe<{ pages: number }[]>(
    `SELECT (pg_relation_size('${copyOf(name)}') / current_setting('block_size')::int)::int AS "pages"`,
  )
  for (let page = 0; page < (size?.pages ?? 0); page += PAGES_AT_ONCE) {
    const piece = `ctid >= '(${page},0)' AND ctid < '(${page + PAGES_AT_ONCE},0)'`
    const rows = await db.$queryRawUnsafe<{ line: string }[]>(`${selectRows(copyOf(name))} WHERE ${piece}`)
    for (const { line } of rows) yield line
  }
}

function copyOf(name: string): string {
  return `${COPIES}.${quoted(name)}`
}

/** @param table as SQL names it */
function selectRows(table: string): string {
  return `SELECT row_to_json(stored)::text AS line FROM ${table} stored`
}
