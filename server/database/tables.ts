import type { Db } from './database.ts'

export type Queries = Pick<Db, '$queryRawUnsafe' | '$executeRawUnsafe'>

export interface Table {
  name: string
  columns: string[]
  /** Columns that draw their values from a sequence. */
  counted: string[]
}

export interface AppliedMigration {
  name: string
  checksum: string
}

/** What belongs to the database itself and to the processes that run, and not to people. */
const NOT_KEPT = `'_prisma_migrations', 'Quvera_Lease'`

/** Says who looked; a database that holds nothing else is an empty one. */
export const ACCESS = 'Quvera_Access'

const TABLES = `
  SELECT class.relname::text AS "name",
    (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS "columns",
    (SELECT coalesce(array_agg(attname::text), '{}') FROM pg_attribute
      WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped
        AND pg_get_serial_sequence(quote_ident(class.relname), attname) IS NOT NULL) AS "counted"
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
