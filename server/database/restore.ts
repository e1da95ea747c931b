// Fills an empty database from a backup (backup.ts).

import { readFile } from 'node:fs/promises'
import { pipeline as pipelineWithCallback, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { ClientBase, QueryResult } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { describeFailure, OperatorError } from '../errors.ts'
import { inProject } from '../project-root.ts'
import { ACCESS_LOG, copyTarget, HEAD, MIGRATION, quoted, readSequences, readTables, type Table } from './backup.ts'
import { sqlState } from './errors.ts'
import { MIGRATIONS, migrate, readApplied, readMigrations } from './migrations.ts'

/** Longer than any row can be. */
const LINE_MAX = 2 ** 20
const CHARACTERS_AT_ONCE = 2 ** 16
/** PostgreSQL's error codes for invalid values, broken constraints and unknown columns. */
const INVALID_ROWS = /^2[23]|^42703/

/** Something is wrong with the file. The message quotes nothing of it: it may hold control characters of a terminal. */
class BackupError extends Error {}

interface Backup {
  /** Of the file, for messages. */
  name: string
  madeAt: string
  migrations: string[]
  /** What follows the head. */
  lines: AsyncGenerator<string>
}

/** Reads the head of a backup. @throws OperatorError when it is none, or one of a newer version of the site */
export async function openBackup(file: Readable, name: string): Promise<Backup> {
  try {
    const lines = unzippedLines(file)
    const { value: first = '' } = await lines.next()
    const madeAt = first.startsWith(HEAD) ? first.slice(HEAD.length) : ''
    if (!/^[\d-]{10}T[\d:.]{12}Z$/.test(madeAt)) throw new BackupError('It does not begin as a backup')
    const migrations: string[] = []
    while (true) {
      const { value: line = '' } = await lines.next()
      if (!line.startsWith(MIGRATION)) break // the line after the last migration is empty
      migrations.push(line.slice(MIGRATION.length))
    }
    const known = (await readMigrations()).map((migration) => migration.name)
    if (migrations.length === 0) throw new BackupError('It names no migration')
    if (migrations.some((migration) => !known.includes(migration)))
      throw new OperatorError(
        `${name} has tables of a newer version of the site. Restore it with that version; nothing was changed.`,
      )
    return { name, madeAt, migrations, lines }
  } catch (error) {
    throw toOperatorError(error, name)
  }
}

/**
 * Makes the tables as they were in the backup, stores its rows, applies later migrations, and only then marks mails and
 * subscriptions as restored, by statements that name today's tables.
 * @param hasMoved the site has not run since the backup: nothing is marked
 * @returns how many rows it stored, without the access log, and how many mails, subscriptions and erasures it marked
 */
export async function restoreBackup(client: ClientBase, backup: Backup, hasMoved: boolean) {
  const restored = { rows: 0, withheld: 0, unconfirmed: 0, toErase: 0 }
  const isOlder = backup.migrations.length < (await readMigrations()).length
  async function mark() {
    if (hasMoved) return
    const statements = await readFile(inProject('server/database/after-pg-restore.sql'), 'utf8')
    // pg answers several statements with an array, which its types do not know.
    const [mails, subscribers, erasures] = (await client.query(statements)) as unknown as QueryResult[]
    restored.withheld = mails?.rowCount ?? 0
    restored.unconfirmed = subscribers?.rowCount ?? 0
    restored.toErase = erasures?.rowCount ?? 0
  }
  await prepareTables(client, backup)
  try {
    await client.query('BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0')
    restored.rows = await fillTables(client, backup)
    if (!isOlder) await mark()
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw toOperatorError(error, backup.name)
  }
  try {
    if (isOlder) await migrate(client).then(mark)
  } catch (cause) {
    throw new OperatorError(
      `The rows were restored, and then the restore failed: ${describeFailure(cause)} Do not start the site on this database: restore into an empty one.`,
      { cause },
    )
  }
  return restored
}

/** Brings a database without tables to the migrations of the backup. */
async function prepareTables(client: ClientBase, { migrations }: Backup): Promise<void> {
  const { rows } = await client.query(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS "isMigrated"`)
  const applied = rows[0].isMigrated ? [...(await readApplied(client)).keys()] : []
  if (applied.length === 0) await migrate(client, MIGRATIONS, migrations)
  else if (applied.join() !== migrations.join())
    throw new OperatorError(
      `The tables of this database are of ${applied.length < migrations.length ? 'an older' : 'a newer'} version of the site than the backup. Restore into a new database: a DATA_DIR without one, or a DATABASE_URL without tables. Nothing was changed.`,
    )
}

async function assertEmpty(client: ClientBase): Promise<void> {
  for (const { name } of await readTables(client)) {
    if (name === ACCESS_LOG) continue
    const { rowCount } = await client.query(`SELECT 1 FROM ${quoted(name)} LIMIT 1`)
    if (rowCount)
      throw new OperatorError(
        `The database has rows in ${name}: no row was restored. Restore into an empty one: a DATA_DIR without one, or a DATABASE_URL without tables.`,
      )
  }
}

/** @returns the number of rows, without the access log */
async function fillTables(client: ClientBase, { lines }: Backup): Promise<number> {
  let rows = 0
  const tables = await readTables(client)
  await client.query(`LOCK TABLE ${tables.map((table) => quoted(table.name)).join()} IN EXCLUSIVE MODE`)
  await assertEmpty(client)
  const blocks = new Map(tables.map((table) => [`COPY ${copyTarget(table)} FROM stdin;`, table]))
  const sequences = await readSequences(client)
  const expected = new Set([...blocks.keys(), ...sequences])
  for await (const line of lines) {
    if (line === '') continue
    if (!expected.delete(line)) throw new BackupError('It has a line that this version does not expect')
    const table = blocks.get(line)
    if (table) rows += await copyRows(client, table, lines)
  }
  if (expected.size > 0) throw new BackupError('Its end is missing')
  for (const sequence of sequences) await client.query(sequence)
  return rows
}

/** @returns the number of rows, but 0 for the access log */
async function copyRows(client: ClientBase, table: Table, lines: AsyncGenerator<string>): Promise<number> {
  async function fill(name: string): Promise<number> {
    const copy = client.query(copyFrom(`COPY ${copyTarget({ ...table, name })} FROM STDIN`))
    await pipeline(Readable.from(rowsOf(lines)), copy)
    return copy.rowCount
  }
  if (table.name !== ACCESS_LOG) return fill(table.name)
  // A database that was emptied by hand keeps its access log, so it may have these lines already.
  await client.query(`CREATE TEMP TABLE restored (LIKE ${quoted(ACCESS_LOG)}) ON COMMIT DROP`)
  await fill('restored')
  await client.query(`INSERT INTO ${quoted(ACCESS_LOG)} SELECT * FROM restored ON CONFLICT DO NOTHING`)
  return 0
}

/** The rows of a table, to the line `\.`. */
async function* rowsOf(lines: AsyncGenerator<string>): AsyncGenerator<string> {
  let text = ''
  while (true) {
    const { value: line, done } = await lines.next()
    if (done) throw new BackupError('Its end is missing')
    if (line === '\\.') break
    text += `${line}\n`
    if (text.length < CHARACTERS_AT_ONCE) continue
    yield text
    text = ''
  }
  if (text) yield text
}

/** The lines of a gzip file. Node's readline would also end lines at U+2028, which people's texts may hold. */
async function* unzippedLines(file: Readable): AsyncGenerator<string> {
  const texts = pipelineWithCallback(file, createGunzip(), () => {}).setEncoding('utf8') // an error ends the loop below
  let rest = ''
  for await (const text of texts) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
    if (rest.length > LINE_MAX) throw new BackupError(`A line is longer than ${LINE_MAX} characters`)
  }
  if (rest) throw new BackupError('Its end is missing')
}

/** Says what is wrong with the file, if the error is due to it. */
function toOperatorError(error: unknown, file: string): unknown {
  if (error instanceof OperatorError || !(error instanceof Error)) return error
  const { code = '', syscall, message } = error as NodeJS.ErrnoException
  if (INVALID_ROWS.test(sqlState(error) ?? ''))
    return new OperatorError(`${file} is damaged: its rows do not fit the tables. No row was restored.`, {
      cause: error,
    })
  if (error instanceof BackupError || code.startsWith('Z_'))
    return new OperatorError(`${file} is damaged or no backup: ${message}. No row was restored.`, { cause: error })
  if (code === 'ENOENT' && syscall === 'open')
    return new OperatorError(`There is no file ${file}. No row was restored.`, { cause: error })
  if (code === 'EISDIR')
    return new OperatorError(`${file} is a folder. Name a file in it. No row was restored.`, { cause: error })
  if (code === 'EACCES')
    return new OperatorError(
      `This user may not read ${file}. As its owner put \`- < FILE\` in place of its name. No row was restored.`,
      { cause: error },
    )
  if (syscall) return new OperatorError(`${file} cannot be read: ${message}.`, { cause: error })
  return error
}
