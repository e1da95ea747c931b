import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClientBase } from 'pg'
import { OperatorError, sqlState } from '../errors.ts'
import type { Preparation } from './database.ts'

interface Migration {
  name: string
  sql: string
}

interface Applied {
  migration_name: string
  checksum: string
  finished_at: unknown
  logs: string | null
}

/** The key under which Prisma Migrate takes its advisory lock. */
const PRISMA_LOCK = 72707369
const BEGIN = `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(${PRISMA_LOCK})`
/** For a table: whoever comes while a change of it waits has to wait behind it. */
const TABLE_TIMEOUT = '3s'
/** PostgreSQL's codes for what a role may not do, and for a lock that was waited for in vain. */
const REFUSED = '42501'
const HELD = '55P03'
/** PostgreSQL's code for what a RAISE EXCEPTION of ours says. */
const RAISED = 'P0001'

const FIND_JOURNAL = `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS journal,
  (SELECT count(*)::int FROM pg_tables WHERE schemaname = current_schema()) AS tables`
/** The bookkeeping table of Prisma Migrate, as Prisma creates it. */
const JOURNAL = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id                  VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum            VARCHAR(64) NOT NULL,
  finished_at         TIMESTAMPTZ,
  migration_name      VARCHAR(255) NOT NULL,
  logs                TEXT,
  rolled_back_at      TIMESTAMPTZ,
  started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`

/**
 * Applies migrations if `options` say so; else only looks.
 * @param what the database, as a sentence begins with it
 * @returns what there is to say: the migrations applied, and those the database has and this version lacks
 * @throws OperatorError when the database is not one that this version can work with
 */
export async function settleMigrations(
  client: ClientBase,
  what: string,
  options: Preparation & { migrations: string },
): Promise<string[]> {
  const migrations = await readMigrations(options.migrations)
  if (options.migrate) return migrate(client, migrations)
  if (options.anyVersion) return []
  const { rows } = await client.query<{ journal: boolean }>(FIND_JOURNAL)
  if (!rows[0]?.journal) {
    throw new OperatorError(
      `${what} holds no tables of this site. Is it the right one? The site makes them when it starts.`,
    )
  }
  const applied = await readJournal(client).catch((error: unknown) => {
    if (sqlState(error) === REFUSED) return undefined
    throw error
  })
  if (!applied) return [] // a role that may not look is not told
  const due = migrations.find(({ name }) => !applied.has(name))
  if (due) {
    throw new OperatorError(
      `${what} lacks migration ${due.name}, which this version of the site needs: start the site, or run \`npm run -s staff -- migrate\`. Nothing was changed.`,
    )
  }
  return noteUnknown(migrations, applied)
}

/**
 * Applies what the database lacks, a transaction each: what one adds to a type the next may use. Uses Prisma Migrate's
 * own table, checksums and lock, so that `prisma migrate deploy` and this agree, and so that many servers may start at
 * once. Nothing of the session outlives a transaction, so a pooler may lie between.
 */
async function migrate(client: ClientBase, migrations: Migration[]): Promise<string[]> {
  for (const notes: string[] = []; ; ) {
    let due: Migration | undefined
    try {
      await client.query(BEGIN)
      await createJournal(client)
      const applied = await readJournal(client)
      const edited = migrations.find(({ name, sql }) => applied.has(name) && !matches(sql, applied.get(name) ?? ''))
      if (edited) {
        throw new OperatorError(
          `Migration ${edited.name} was edited after it was applied to this database. Restore the file, and put the change into a new migration.`,
        )
      }
      due = migrations.find(({ name }) => !applied.has(name))
      if (due) await apply(client, due)
      await client.query('COMMIT')
      if (!due) return [...notes, ...noteUnknown(migrations, applied)]
      notes.push(`applied migration ${due.name}`)
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {}) // the first failure tells more
      throw explain(error, due ?? migrations[0], due !== undefined)
    }
  }
}

/**
 * Drops everything in the schema and applies the migrations up to a set of them, as an older version of the site would
 * have.
 * @throws OperatorError when a table has rows; nothing has been changed then
 */
export async function remakeTables(client: ClientBase, folder: string, names: string[]): Promise<void> {
  const migrations = await readMigrations(folder)
  await client.query(DROP_ALL).catch((error: Error) => {
    if (sqlState(error) !== RAISED) throw error
    throw new OperatorError(`${error.message}. Restore into an empty one; nothing was changed.`)
  })
  await migrate(
    client,
    migrations.filter(({ name }) => names.includes(name)),
  )
}

const DROP_ALL = `
  DO $$ DECLARE item text; has_rows boolean; BEGIN
    FOR item IN SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
    LOOP
      EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', item);
      EXECUTE format('SELECT EXISTS (SELECT FROM %I)', item) INTO has_rows;
      IF has_rows AND item NOT IN ('_prisma_migrations', 'Quvera_Lease', 'Quvera_Access') THEN
        RAISE EXCEPTION 'The database has rows in %', item;
      END IF;
    END LOOP;
    FOR item IN SELECT format('TABLE %s', oid::regclass) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
    LOOP EXECUTE 'DROP ' || item || ' CASCADE'; END LOOP;
    FOR item IN SELECT format('FUNCTION %s', oid::regprocedure) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
      UNION ALL SELECT format('TYPE %s', oid::regtype) FROM pg_type WHERE typnamespace = current_schema()::regnamespace AND typtype = 'e'
    LOOP EXECUTE 'DROP ' || item || ' CASCADE'; END LOOP;
  END $$`

/** Those that a newer version has left behind. */
function noteUnknown(migrations: Migration[], applied: Map<string, string>): string[] {
  const known = new Set(migrations.map(({ name }) => name))
  const unknown = [...applied.keys()].filter((name) => !known.has(name))
  return unknown.map((name) => `the database has migration ${name}, which this version does not know`)
}

/** The migrations in `folder`, oldest first. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => ({ name, sql: await readFile(join(folder, name, 'migration.sql'), 'utf8') })),
  )
}

async function createJournal(client: ClientBase) {
  const { rows } = await client.query<{ journal: boolean; tables: number }>(FIND_JOURNAL)
  if (rows[0]?.journal) return // a role without the right to create tables may still find that nothing is to do
  if (rows[0]?.tables) {
    throw new OperatorError(
      'The database holds tables, but no record of migrations. Use an empty database, or record what it has with `prisma migrate resolve`.',
    )
  }
  await client.query(JOURNAL)
}

async function readJournal(client: ClientBase): Promise<Map<string, string>> {
  const { rows } = await client.query<Applied>(
    'SELECT migration_name, checksum, finished_at, logs FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  )
  const failed = rows.find((row) => !row.finished_at)
  if (failed) {
    throw new OperatorError(
      `Migration ${failed.migration_name} began and did not finish (${failed.logs ?? 'no reason recorded'}). Repair the database, then \`prisma migrate resolve\`.`,
    )
  }
  return new Map(rows.map((row) => [row.migration_name, row.checksum]))
}

async function apply(client: ClientBase, { name, sql }: Migration) {
  const finished = `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
    VALUES ('${randomUUID()}', '${sha256(sql)}', '${name}', clock_timestamp(), 1)`
  await client.query(`SET LOCAL lock_timeout = '${TABLE_TIMEOUT}';\n${sql}\n;${finished}`)
}

/** What an operator can do when a migration is not applied. */
function explain(error: unknown, due: Migration | undefined, hasBegun: boolean): unknown {
  if (error instanceof OperatorError) return error
  const reason = error instanceof Error ? error.message : String(error)
  const remedies: Record<string, string> = {
    [REFUSED]:
      "is due, and this role may not apply it. First run `npm run -s staff -- migrate` with the DATABASE_URL of the tables' owner (in the container: node dist/server/staff.js migrate).",
    [HELD]:
      'was not applied, and left nothing behind: something, such as a long backup, holds a table that it changes. Start again when that is done.',
  }
  const words = remedies[sqlState(error) ?? ''] ?? (hasBegun && `failed and left nothing behind: ${reason}`)
  return words ? new OperatorError(`Migration ${due?.name} ${words}`, { cause: error }) : error
}

function sha256(text: string) {
  return createHash('sha256').update(text).digest('hex')
}

/** Whether the script has this checksum, however its lines end: a checkout on Windows may have changed them. */
function matches(sql: string, checksum: string) {
  const unix = sql.replaceAll('\r\n', '\n')
  return [unix, unix.replaceAll('\n', '\r\n')].some((text) => sha256(text) === checksum)
}
