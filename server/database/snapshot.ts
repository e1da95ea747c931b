// Reads all tables as they were at one moment, for a backup beside the running site.
import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import { OperatorError, sqlState } from '../errors.ts'
import type { Database, Db } from './database.ts'

export type Queries = Pick<Db, '$queryRawUnsafe' | '$executeRawUnsafe'>

export interface Table {
  name: string
  columns: string[]
}

export interface Snapshot {
  migrations: { name: string; checksum: string }[]
  tables: Table[]
  /** Some rows at a time, each as JSON with its values as PostgreSQL writes them. */
  rows(table: Table): AsyncIterable<string[]>
}

/** The embedded server keeps such cursors until their client disconnects. */
export const CURSOR_PREFIX = 'backup '
/** Few enough for the 16 MB that the embedded server sends at once. */
const ROWS_AT_ONCE = 200
const DISK_FULL = '53100'
const INVALID_CURSOR_NAME = '34000'

/** The site's own: other programs may have tables in the schema. Leases describe the running processes. */
const IS_BACKED_UP = `class.relname ~ '^Quvera_' AND class.relname <> 'Quvera_Lease'`

/** The access log. Does not count when deciding whether a database is empty. */
export const ACCESS_LOG = 'Quvera_Access'

const TABLES = `
  SELECT class.relname::text AS "name",
    (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS "columns"
  FROM pg_class class
  WHERE class.relkind = 'r' AND class.relnamespace = current_schema()::regnamespace AND ${IS_BACKED_UP}
  ORDER BY class.relname`
const MIGRATIONS = `
  SELECT migration_name AS "name", checksum FROM _prisma_migrations
  WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`
const BEGIN =
  'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL datestyle = ISO'

export function readTables(db: Queries): Promise<Table[]> {
  return db.$queryRawUnsafe(TABLES)
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * On the embedded database orders wait during a transaction. So it is committed first, and the rows are read from WITH HOLD
 * cursors.
 */
export async function withSnapshot(
  { withClient }: Database,
  { isEmbedded }: { isEmbedded: boolean },
  work: (snapshot: Snapshot) => Promise<void>,
): Promise<void> {
  await withClient(async (client) => {
    const id = randomUUID().slice(0, 8)
    await client.query(BEGIN) // migrations and tables are read from the same snapshot
    const { rows: migrations } = await client.query<Snapshot['migrations'][number]>(MIGRATIONS)
    const { rows: tables } = await client.query<Table>(TABLES)
    const cursorOf = (table: Table) => quoted(`${CURSOR_PREFIX}${id} ${tables.indexOf(table)}`)
    async function declare(hold: boolean) {
      const declarations = tables.map((table) => {
        const select = `SELECT ${table.columns.map(quoted).join()} FROM ${quoted(table.name)}`
        return `DECLARE ${cursorOf(table)} CURSOR ${hold ? 'WITH HOLD ' : ''}FOR ${select}`
      })
      await client.query([...declarations, ...(hold ? ['COMMIT'] : [])].join('; '))
    }
    await declare(isEmbedded).catch(async (error) => {
      if (sqlState(error) !== DISK_FULL) throw error
      await client.query(`ROLLBACK; ${BEGIN}`)
      console.error('The disk has no room for a copy of the rows: until this backup ends, orders wait or are refused.')
      await declare(false)
    })
    await work({ migrations, tables, rows: (table) => readRows(client, cursorOf(table)) })
  })
}

async function* readRows(client: ClientBase, cursor: string): AsyncGenerator<string[]> {
  const fetch = { text: `FETCH ${ROWS_AT_ONCE} FROM ${cursor}`, types: { getTypeParser: () => String } }
  while (true) {
    const { rows } = await client.query(fetch).catch((error: Error) => {
      const state = sqlState(error)
      if (state && state !== INVALID_CURSOR_NAME) throw error
      const reason = state
        ? 'An erasure ended this backup'
        : `The connection to the database was lost: ${error.message}`
      throw new OperatorError(`${reason}. The file is not complete: make it again.`, { cause: error })
    })
    yield rows.map((row) => JSON.stringify(row))
    if (rows.length < ROWS_AT_ONCE) return
  }
}

/** Ends all backups of the embedded database: what is erased must not stay in their cursors. */
export const END_BACKUPS = `
  DO $$ DECLARE cursor text; BEGIN
    FOR cursor IN SELECT name FROM pg_cursors WHERE starts_with(name, '${CURSOR_PREFIX}')
    LOOP EXECUTE format('CLOSE %I', cursor); END LOOP;
  END $$`
