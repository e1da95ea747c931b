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

const TABLES = `
  SELECT class.relname::text AS "name",
    (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS "columns",
    (SELECT coalesce(array_agg(attname::text), '{}') FROM pg_attribute
      WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped
        AND pg_get_serial_sequence(quote_ident(class.relname), attname) IS NOT NULL) AS "counted",
    (SELECT coalesce(array_agg(DISTINCT parent.relname::text), '{}') FROM pg_constraint
      JOIN pg_class parent ON parent.oid = confrelid
      WHERE conrelid = class.oid AND contype = 'f' AND confrelid <> conrelid) AS "parents"
  FROM pg_class class
  WHERE class.relkind = 'r' AND class.relnamespace = 'public'::regnamespace AND class.relname NOT IN (${NOT_KEPT})
  ORDER BY class.relname`

/** All tables whose rows are kept, as the database itself describes them, parents before their children. */
export async function readTables(db: Queries): Promise<Table[]> {
  const tables = await db.$queryRawUnsafe<(Table & { parents: string[] })[]>(TABLES)
  const sorted: typeof tables = []
  const isPlaced = (name: string) => sorted.some((table) => table.name === name)
  while (sorted.length < tables.length) {
    const next = tables.find(({ name, parents }) => !isPlaced(name) && parents.every(isPlaced))
    if (!next) throw new Error('Tables refer to each other in a circle')
    sorted.push(next)
  }
  return sorted.map(({ name, columns, counted }) => ({ name, columns, counted }))
}

export function readMigrations(db: Queries): Promise<AppliedMigration[]> {
  return db.$queryRawUnsafe(
    `SELECT migration_name AS "name", checksum FROM _prisma_migrations
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
  )
}

/** The name as SQL has it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
