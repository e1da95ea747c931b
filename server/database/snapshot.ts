import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError, sqlState } from '../errors.ts'
import type { Db } from './database.ts'
import { releaseLease, takeLease } from './lease.ts'

export type Queries = Pick<Db, '$queryRawUnsafe' | '$executeRawUnsafe'>

export interface Table {
  name: string
  columns: string[]
}

export interface AppliedMigration {
  name: string
  checksum: string
}

/** Everything that is stored, as it was at one moment. */
export interface Snapshot {
  migrations: AppliedMigration[]
  tables: Table[]
  /** The table's rows in JSON, a text each. */
  rows(table: Table): AsyncIterable<string>
}

type Work = (snapshot: Snapshot) => Promise<void>

const NO_LIMIT_MS = 2 ** 31 - 1
/** What the names of the schemas begin with in which copies are, beside the tables' own. */
export const COPIES = 'backup_copies'
/** Some thousand rows: so many are in memory at once, and the session of the embedded database is taken for them. */
const PAGES_AT_ONCE = 15
const LEASE = 'backup'
/** So long a backup that was killed keeps the next one waiting. */
const LEASE_SECONDS = 10
const RENEWED_MS = 2000
const LOOK_MS = 250
/** PostgreSQL's codes for a full disk, and for a table and a schema that are not there. */
const DISK_FULL = '53100'
const NO_TABLE = '42P01'
const NO_SCHEMA = '3F000'

/** What belongs to the database itself and to the processes that run, and not to people. */
const NOT_KEPT = `'_prisma_migrations', 'Quvera_Lease'`

/** Says who looked; a database that holds nothing else is an empty one. */
export const ACCESS = 'Quvera_Access'

const TABLES = `
  SELECT class.relname::text AS "name",
    (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS "columns"
  FROM pg_class class
  WHERE class.relkind = 'r' AND class.relnamespace = current_schema()::regnamespace AND class.relname NOT IN (${NOT_KEPT})
  ORDER BY class.relname`

/** All tables whose rows are kept, as the database itself describes them. */
export function readTables(db: Queries): Promise<Table[]> {
  return db.$queryRawUnsafe(TABLES)
}

/** The migrations that the database has, oldest first. */
export function readJournal(db: Queries): Promise<AppliedMigration[]> {
  return db.$queryRawUnsafe(
    `SELECT migration_name AS "name", checksum FROM _prisma_migrations
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
  )
}

/** The name as SQL has it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Beside the running site, which goes on storing orders. */
export async function withSnapshot(db: Db, { isEmbedded }: { isEmbedded: boolean }, work: Work): Promise<void> {
  const id = randomUUID().replaceAll('-', '')
  const canCopy = isEmbedded && (await waitForLease(db, id))
  return canCopy ? fromCopies(db, id, work) : inTransaction(db, work)
}

async function inTransaction(db: Db, work: Work) {
  await db.$transaction(
    async (transaction) => {
      await transaction.$executeRawUnsafe('SET TRANSACTION READ ONLY')
      await work({
        migrations: await readJournal(transaction),
        tables: await readTables(transaction),
        rows: ({ name }) => readPages(transaction, quoted(name)),
      })
    },
    { isolationLevel: 'RepeatableRead', timeout: NO_LIMIT_MS },
  )
}

/**
 * The embedded database has one session, and while it is in a transaction orders wait. So one statement copies all
 * tables, ten times as fast as they can be written out, and the copies are read a piece at a time between orders. One
 * backup does so at a time: whoever has the lease may take away what others have left.
 */
async function fromCopies(db: Db, id: string, work: Work) {
  const schema = `${COPIES}_${id}`
  const renewal = setInterval(() => takeLease(db, LEASE, id, LEASE_SECONDS).catch(() => {}), RENEWED_MS)
  async function cleanUp() {
    clearInterval(renewal)
    await db.$executeRawUnsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await releaseLease(db, LEASE, id)
  }
  try {
    const [migrations, tables] = [await readJournal(db), await readTables(db)]
    const copies = tables.map(({ name }) => `CREATE UNLOGGED TABLE ${schema}.${quoted(name)} AS TABLE ${quoted(name)}`)
    const script = [`CREATE SCHEMA ${schema}`, ...copies].map((sql) => `${sql};`).join(' ')
    await db.$executeRawUnsafe(`DO $do$ DECLARE name text; BEGIN ${NO_TIME_LIMIT} ${DROP_SCHEMAS} ${script} END $do$`)
    await work({ migrations, tables, rows: ({ name }) => readPages(db, `${schema}.${quoted(name)}`) })
  } catch (error) {
    await cleanUp().catch(() => {}) // the first failure tells more
    throw error
  }
  await cleanUp().catch(() => {}) // the next start or backup does it
}

/**
 * @returns false on a full disk, where no order can be stored that would have to wait, and no copy be made; and in a
 * database of the first version, which has no leases
 */
async function waitForLease(db: Db, holder: string): Promise<boolean> {
  try {
    for (let tries = 0; !(await takeLease(db, LEASE, holder, LEASE_SECONDS)); tries++) {
      if (tries === 0) console.error('Another backup is being made: this one waits until it is done.')
      await sleep(LOOK_MS)
    }
    return true
  } catch (error) {
    if ([DISK_FULL, NO_TABLE].includes(sqlState(error) ?? '')) return false
    throw error
  }
}

/** @param table as SQL names it */
async function* readPages(db: Queries, table: string): AsyncGenerator<string> {
  try {
    const [size] = await db.$queryRawUnsafe<{ pages: number }[]>(
      `SELECT (pg_relation_size('${table}') / current_setting('block_size')::int)::int AS "pages"`,
    )
    for (let page = 0; page < (size?.pages ?? 0); page += PAGES_AT_ONCE) {
      const rows = await db.$queryRawUnsafe<{ line: string }[]>(
        `SELECT row_to_json(stored)::text AS line FROM ${table} stored
         WHERE ctid >= '(${page},0)' AND ctid < '(${page + PAGES_AT_ONCE},0)'`,
      )
      for (const { line } of rows) yield line
    }
  } catch (error) {
    if (![NO_TABLE, NO_SCHEMA].includes(sqlState(error) ?? '')) throw error
    throw new OperatorError(
      'The copies of this backup were taken away while it read them, by an erasure or by another backup. What it has written is not whole: make it again.',
      { cause: error },
    )
  }
}

const NO_TIME_LIMIT = `PERFORM set_config('statement_timeout', '0', true);`

const DROP_SCHEMAS = `
  FOR name IN SELECT nspname FROM pg_namespace WHERE starts_with(nspname::text, '${COPIES}')
  LOOP EXECUTE format('DROP SCHEMA %I CASCADE', name); END LOOP;`

/**
 * Takes away what backups have copied: what is erased shall not stay in a copy. A backup that is being made fails, and
 * says why. Its lease goes too, which the site's role on a server, where there are no copies, may not take.
 */
export const DROP_COPIES = `
  DO $do$ DECLARE name text; BEGIN ${DROP_SCHEMAS}
    IF FOUND THEN DELETE FROM "Quvera_Lease" WHERE "Name" = '${LEASE}'; END IF;
  END $do$`
