/*
 * A backup is a gzip file of plain SQL, which psql can load into the tables of the same migrations:
 *   -- Quvera backup of 2026-11-25T03:30:00.000Z
 *   -- migration 20261121120000_tables                                     a line for each
 *   COPY "Quvera_Form" ("Id", …) FROM stdin;                               then the rows, then \.   a block for each table
 *   SELECT setval(…);                                                      a line for each sequence
 */
import type { Writable } from 'node:stream'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { ClientBase } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { Database } from './database.ts'
import { readApplied } from './migrations.ts'

export interface Table {
  name: string
  columns: string[]
}

export const HEAD = '-- Quvera backup of '
export const MIGRATION = '-- migration '

/** The access log. It does not count when deciding whether a database is empty. */
export const ACCESS_LOG = 'Quvera_Access'

/** Without leases, which describe running processes, and without sessions of the desk. A table comes after those that it refers to. */
const NAMES = [
  ...['Quvera_Form', 'Quvera_Subscriber'],
  'Quvera_Summary', // of older backups
  ...['Quvera_Mail', 'Quvera_History', ACCESS_LOG],
]

const TABLES = `
  SELECT name, (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = to_regclass(quote_ident(name)) AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS "columns"
  FROM unnest($1::text[]) WITH ORDINALITY AS tables (name, place)
  WHERE to_regclass(quote_ident(name)) IS NOT NULL ORDER BY place`

const SEQUENCES = `
  SELECT format('SELECT setval(%L, max(%I)) FROM %I HAVING count(*) > 0;', sequence, column_name, table_name) AS "sql"
  FROM information_schema.columns, pg_get_serial_sequence(quote_ident(table_name), column_name) sequence
  WHERE table_schema = 'public' AND table_name ~ '^Quvera_' AND sequence IS NOT NULL`

export async function readTables(client: ClientBase): Promise<Table[]> {
  return (await client.query<Table>(TABLES, [NAMES])).rows
}

/** The statements that set each sequence to the highest number in its column. */
export async function readSequences(client: ClientBase): Promise<string[]> {
  return (await client.query<{ sql: string }>(SEQUENCES)).rows.map(({ sql }) => sql)
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** How tables and columns stand in COPY. */
export function copyTarget({ name, columns }: Table): string {
  return `${quoted(name)} (${columns.map(quoted).join(', ')})`
}

/**
 * Writes all rows as they are at one moment, while the site goes on.
 * @returns the number of rows, without the access log
 */
export async function writeBackup({ withClient }: Database, output: Writable, signal?: AbortSignal): Promise<number> {
  let rows = 0
  async function* toText(client: ClientBase) {
    await client.query(
      'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL datestyle = ISO',
    )
    const applied = await readApplied(client)
    yield [`${HEAD}${new Date().toISOString()}`, ...[...applied.keys()].map((name) => MIGRATION + name), ''].join('\n')
    for (const table of await readTables(client)) {
      yield `\nCOPY ${copyTarget(table)} FROM stdin;\n`
      const copy = client.query(copyTo(`COPY ${copyTarget(table)} TO STDOUT`))
      yield* copy
      if (table.name !== ACCESS_LOG) rows += copy.rowCount
      yield '\\.\n'
    }
    yield `\n${(await readSequences(client)).join('\n')}\n`
    await client.query('COMMIT')
  }
  const work = (client: ClientBase) =>
    pipeline(Readable.from(toText(client)), createGzip(), output, signal ? { signal } : {})
  await withClient(work)
  return rows
}
