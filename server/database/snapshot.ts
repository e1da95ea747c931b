// Reads all tables as they were at one moment, for a backup beside the running site.
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

interface AppliedMigration {
  name: string
  checksum: string
}

export interface Snapshot {
  migrations: AppliedMigration[]
  tables: Table[]
  /** Each row of the table as JSON. */
  rows(table: Table): AsyncIterable<string>
}

type Work = (snapshot: Snapshot) => Promise<void>

const NO_LIMIT_MS = 2 ** 31 - 1
/** Each backup of the embedded database copies the tables into a schema of its own, whose name begins so. */
export const COPY_SCHEMA = 'backup_copies'
/** Pages of a table that are read at once: some thousand rows. */
const PAGES_AT_ONCE = 15
const LEASE = 'backup'
/** How long the next backup waits for one that was killed. */
const LEASE_SECONDS = 10
const RENEW_MS = 2000
const POLL_MS = 250
const DISK_FULL = '53100'
const UNDEFINED_TABLE = '42P01'
const INVALID_SCHEMA_NAME = '3F000'

/** Not in a backup: they describe the database and the running processes. */
const NOT_BACKED_UP = `'_prisma_migrations', 'Quvera_Lease'`

/** The access log. Does not count when deciding whether a database is empty. */
export const ACCESS_LOG = 'Quvera_Access'

const TABLES = `
  SELECT class.relname::text AS "name",
    (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS "columns"
  FROM pg_class class
  WHERE class.relkind = 'r' AND class.relnamespace = current_schema()::regnamespace AND class.relname NOT IN (${NOT_BACKED_UP})
  ORDER BY class.relname`

export function readTables(db: Queries): Promise<Table[]> {
  return db.$queryRawUnsafe(TABLES)
}

function readAppliedMigrations(db: Queries): Promise<AppliedMigration[]> {
  return db.$queryRawUnsafe(
    `SELECT migration_name AS "name", checksum FROM _prisma_migrations
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
  )
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Runs `work` on a snapshot, while the site goes on storing orders. */
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
        migrations: await readAppliedMigrations(transaction),
        tables: await readTables(transaction),
        rows: ({ name }) => readPages(transaction, quoted(name)),
      })
    },
    { isolationLevel: 'RepeatableRead', timeout: NO_LIMIT_MS },
  )
}

/** PostgreSQL empties unlogged tables when it starts after a crash. */
const STARTED_AGAIN =
  'The database was started again while this backup read it. The file is not complete: make it again.'

/**
 * The embedded database has one session, and while it is in a transaction orders wait. So one statement copies all
 * tables, and the copies are read in pieces, between orders. Only one backup at a time: the one that has the lease drops
 * the copies that others have left.
 */
async function fromCopies(db: Db, id: string, work: Work) {
  const schema = `${COPY_SCHEMA}_${id}`
  const renewal = setInterval(() => takeLease(db, LEASE, id, LEASE_SECONDS).catch(() => {}), RENEW_MS)
  async function cleanUp() {
    clearInterval(renewal)
    await db.$executeRawUnsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await releaseLease(db, LEASE, id)
  }
  try {
    const [migrations, tables] = [await readAppliedMigrations(db), await readTables(db)]
    const copies = tables.map(({ name }) => `CREATE UNLOGGED TABLE ${schema}.${quoted(name)} AS TABLE ${quoted(name)}`)
    const marker = `CREATE UNLOGGED TABLE ${schema}.marker AS SELECT 1`
    const script = [`CREATE SCHEMA ${schema}`, ...copies, marker].map((sql) => `${sql};`).join(' ')
    await db.$executeRawUnsafe(`DO $do$ DECLARE name text; BEGIN ${NO_TIME_LIMIT} ${DROP_SCHEMAS} ${script} END $do$`)
    async function* rows({ name }: { name: string }) {
      yield* readPages(db, `${schema}.${quoted(name)}`)
      const [marked] = await db.$queryRawUnsafe<unknown[]>(`SELECT FROM ${schema}.marker`)
      if (!marked) throw new OperatorError(STARTED_AGAIN)
    }
    await work({ migrations, tables, rows })
  } finally {
    await cleanUp().catch(() => {}) // what stays is dropped by the next start or backup
  }
}

/** @returns false on a full disk, where no copy can be made. No order can be stored then, so a transaction delays none. */
async function waitForLease(db: Db, holder: string): Promise<boolean> {
  try {
    for (let tries = 0; !(await takeLease(db, LEASE, holder, LEASE_SECONDS)); tries++) {
      if (tries === 0) console.error('Another backup is under way: this one waits for its end.')
      await sleep(POLL_MS)
    }
    return true
  } catch (error) {
    if (sqlState(error) === DISK_FULL) return false
    throw error
  }
}

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
    if (![UNDEFINED_TABLE, INVALID_SCHEMA_NAME].includes(sqlState(error) ?? '')) throw error
    throw new OperatorError(
      'The copies that this backup read were dropped by an erasure or by another backup. The file is not complete: make it again.',
      { cause: error },
    )
  }
}

const NO_TIME_LIMIT = `PERFORM set_config('statement_timeout', '0', true);`

const DROP_SCHEMAS = `
  FOR name IN SELECT nspname FROM pg_namespace WHERE starts_with(nspname::text, '${COPY_SCHEMA}')
  LOOP EXECUTE format('DROP SCHEMA %I CASCADE', name); END LOOP;`

/**
 * Drops the copies of all backups: what is erased must not stay in a copy. A backup under way fails and says why. Deletes
 * its lease only where there were copies: on a PostgreSQL server, where there are none, the site's role may not.
 */
export const DROP_COPIES = `
  DO $do$ DECLARE name text; BEGIN ${DROP_SCHEMAS}
    IF FOUND THEN DELETE FROM "Quvera_Lease" WHERE "Name" = '${LEASE}'; END IF;
  END $do$`
