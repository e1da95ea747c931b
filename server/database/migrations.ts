// Applies migrations with the table, checksums and lock of Prisma Migrate, so that both agree.

import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClientBase } from 'pg'
import { OperatorError } from '../errors.ts'
import { inProject } from '../project-root.ts'
import { staffCommand } from '../staff-command.ts'
import { openConnection } from './connection.ts'
import type { Preparation } from './database.ts'
import { INSUFFICIENT_PRIVILEGE, sqlState } from './errors.ts'
import { readSession } from './session.ts'

interface Migration {
  name: string
  sql: string
}

export const MIGRATIONS = inProject('prisma/migrations')

/** Prisma Migrate's advisory lock. */
const PRISMA_LOCK = 72707369
const BEGIN = `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(${PRISMA_LOCK})`
const LOCK_NOT_AVAILABLE = '55P03'
/** How long a migration waits for a table: orders that come meanwhile wait behind it. */
const TABLE_TIMEOUT = '3s'

const FIND_TABLES = `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS "isMigrated",
  (SELECT count(*)::int FROM pg_tables WHERE schemaname = 'public') AS tables`
/** As Prisma Migrate creates it. */
const CREATE_MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id                  VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum            VARCHAR(64) NOT NULL,
  finished_at         TIMESTAMPTZ,
  migration_name      VARCHAR(255) NOT NULL,
  logs                TEXT,
  rolled_back_at      TIMESTAMPTZ,
  started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`

export interface MigrationOptions extends Preparation {
  /** Their folder; this project's unless given. */
  migrations?: string
  /** Where they run, when the connection leads to a pooler. */
  directUrl?: string | undefined
}

/** Applies migrations if asked to, at `directUrl` if there is one; else checks that none is due. Returns notes for the log. */
export async function applyOrCheckMigrations(
  client: ClientBase,
  name: string,
  options: MigrationOptions,
): Promise<string[]> {
  const { migrations = MIGRATIONS, directUrl, anyVersion } = options
  if (!options.migrate) return anyVersion ? [] : assertMigrated(client, name, migrations)
  if (!directUrl) return migrate(client, migrations)
  const direct = await openConnection({ connectionString: directUrl }, 'DIRECT_DATABASE_URL')
  const notes = await readSession(direct, 'DIRECT_DATABASE_URL')
    .then(() => migrate(direct, migrations))
    .finally(() => direct.end())
  await assertMigrated(client, name, migrations).catch((error: unknown) => {
    if (!(error instanceof OperatorError)) throw error
    throw new OperatorError(
      'DIRECT_DATABASE_URL and DATABASE_URL lead to different databases or schemas: only that of DIRECT_DATABASE_URL has all tables of this version.',
    )
  })
  return notes
}

/**
 * Returns notes for the log.
 * @param database its name in messages
 * @throws OperatorError when the database lacks a migration
 */
async function assertMigrated(client: ClientBase, database: string, folder: string): Promise<string[]> {
  const migrations = await readMigrations(folder)
  const { rows } = await client.query<{ isMigrated: boolean }>(FIND_TABLES)
  if (!rows[0]?.isMigrated) {
    throw new OperatorError(
      `${database} holds no tables of this site. Is it the right one? The site makes them when it starts.`,
    )
  }
  const applied = await readApplied(client).catch((error: unknown) => {
    if (sqlState(error) === INSUFFICIENT_PRIVILEGE) return undefined
    throw error
  })
  if (!applied) return [] // this role may not read the table
  const due = migrations.find(({ name }) => !applied.has(name))
  if (due) {
    throw new OperatorError(
      `${database} lacks migration ${due.name}, which this version of the site needs: start the site, or run \`${staffCommand('migrate')}\`. Nothing was changed.`,
    )
  }
  return noteUnknown(migrations, applied)
}

/**
 * Applies the migrations in `folder` that the database lacks, each in its own transaction, because a value added to an
 * enum can be used only after COMMIT. Several servers may start at once: one takes the lock, which ends with its
 * transaction. Returns notes for the log.
 * @param only the names of the migrations to apply; all unless given
 */
export async function migrate(client: ClientBase, folder = MIGRATIONS, only?: string[]): Promise<string[]> {
  const migrations = (await readMigrations(folder)).filter(({ name }) => only?.includes(name) ?? true)
  const notes: string[] = []
  while (true) {
    let due: Migration | undefined
    try {
      await client.query(BEGIN)
      await createMigrationsTable(client)
      const applied = await readApplied(client).catch((error) => {
        if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error
        throw new OperatorError(
          'This login may not read the table of migrations. The owner of the tables has to run prisma/roles.sql again.',
        )
      })
      const edited = migrations.find(({ name, sql }) => applied.has(name) && applied.get(name) !== sha256(sql))
      if (edited) {
        throw new OperatorError(
          `Migration ${edited.name} was edited after it was applied to this database. Restore the file, and put the change into a new migration.`,
        )
      }
      due = migrations.find(({ name }) => !applied.has(name))
      if (due) await client.query(`SET LOCAL lock_timeout = '${TABLE_TIMEOUT}';\n${due.sql}\n;${recordOf(due)}`)
      await client.query('COMMIT')
      if (!due) return [...notes, ...noteUnknown(migrations, applied)]
      notes.push(`applied migration ${due.name}`)
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {}) // the first failure is the one to report
      // If the table of migrations could not be made or read, no migration had begun: the message names the first one.
      throw toOperatorError(error, due ?? migrations[0], due !== undefined)
    }
  }
}

function noteUnknown(migrations: Migration[], applied: Map<string, string>): string[] {
  const unknown = [...applied.keys()].filter((name) => !migrations.some((known) => known.name === name))
  return unknown.map((name) => `the database has migration ${name}, which this version does not know`)
}

export async function readMigrations(folder = MIGRATIONS): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => ({ name, sql: await readFile(join(folder, name, 'migration.sql'), 'utf8') })),
  )
}

async function createMigrationsTable(client: ClientBase) {
  const { rows } = await client.query<{ isMigrated: boolean; tables: number }>(FIND_TABLES)
  if (rows[0]?.isMigrated) return // before CREATE, for which this role may lack the right
  if (rows[0]?.tables) {
    throw new OperatorError('The database holds tables, but no record of migrations. Use an empty database.')
  }
  await client.query(CREATE_MIGRATIONS_TABLE)
}

/** Checksums by name. */
export async function readApplied(client: ClientBase): Promise<Map<string, string>> {
  const { rows: records } = await client.query<{ name: string; checksum: string; isFinished: boolean }>(
    `SELECT migration_name AS "name", checksum, finished_at IS NOT NULL AS "isFinished" FROM _prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  )
  const unfinished = records.find(({ isFinished }) => !isFinished)
  if (unfinished) {
    throw new OperatorError(
      `Prisma Migrate began migration ${unfinished.name} and did not finish it. Repair the database, then set finished_at or rolled_back_at in its row of _prisma_migrations.`,
    )
  }
  return new Map(records.map(({ name, checksum }) => [name, checksum]))
}

function recordOf({ name, sql }: Migration): string {
  return `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
    VALUES ('${randomUUID()}', '${sha256(sql)}', '${name}', clock_timestamp(), 1)`
}

function toOperatorError(error: unknown, due: Migration | undefined, hasBegun: boolean): unknown {
  if (error instanceof OperatorError) return error
  if (!hasBegun && sqlState(error) === LOCK_NOT_AVAILABLE)
    return new OperatorError(
      'Another process is applying migrations and has not finished within 60 seconds. Start again when it has.',
      { cause: error },
    )
  const reason = error instanceof Error ? error.message : String(error)
  const remedies: Record<string, string> = {
    [INSUFFICIENT_PRIVILEGE]:
      "is due, and this role may not apply it. The DATABASE_URL of the tables' owner may: a restore needs it, and before a start `npm run -s staff -- migrate` (in the container: node dist/server/staff.js migrate).",
    [LOCK_NOT_AVAILABLE]:
      'was not applied, and left nothing behind: something, such as a long backup, holds a table that it changes. Start again when that is done.',
  }
  const words = remedies[sqlState(error) ?? ''] ?? (hasBegun && `failed and left nothing behind: ${reason}`)
  return words ? new OperatorError(`Migration ${due?.name} ${words}`, { cause: error }) : error
}

function sha256(text: string) {
  return createHash('sha256').update(text).digest('hex')
}

/** Runs prisma/roles.sql as the tables' owner. Takes the lock of migrations, because two runs at once would conflict. */
export async function applyRoles(owner: ClientBase): Promise<void> {
  const statements = await readFile(inProject('prisma/roles.sql'), 'utf8')
  await owner.query(`SELECT pg_advisory_xact_lock(${PRISMA_LOCK});\n${statements}`)
}
