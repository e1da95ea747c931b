// Fills an empty database from a backup.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import type { Database, Db } from '../database/database.ts'
import { migrate, readMigrations, recreateTables } from '../database/migrations.ts'
import { ACCESS_LOG, type Queries, quoted, readTables } from '../database/snapshot.ts'
import { OperatorError, sqlState } from '../errors.ts'
import { formatCount, staffCommand } from '../format.ts'
import { migrationsFolder } from '../project-root.ts'
import { FORMAT_VERSION, type Head, headSchema, MARK, markSchema } from './backup.ts'
import { withholdAfterRestore } from './mail-actions.ts'
import type { AddCommand, Terminal } from './output.ts'

const NO_LIMIT_MS = 2 ** 31 - 1
/** Longer than any row can be. */
const LINE_MAX = 2 ** 20
/** Some hundred rows are inserted at once. */
const CHARACTERS_AT_ONCE = 2 ** 18
/** PostgreSQL's error codes for invalid values, broken constraints and unknown columns. */
const INVALID_ROWS = /^2[23]|^42703/
const UNCHANGED = 'Nothing was changed.'
/** Sets sequences to the highest number that a row has from them. */
const SET_SEQUENCES = `
  DO $do$ DECLARE each record; BEGIN
    FOR each IN SELECT table_name, column_name, sequence
      FROM information_schema.columns, pg_get_serial_sequence(quote_ident(table_name), column_name) sequence
      WHERE table_schema = current_schema() AND sequence IS NOT NULL
    LOOP EXECUTE format('SELECT setval(%L, max(%I)) FROM %I HAVING count(*) > 0',
      each.sequence, each.column_name, each.table_name);
    END LOOP;
  END $do$`

export function restoreCommand(add: AddCommand, terminal: Terminal) {
  const { env, input, print } = terminal
  add('restore')
    .description('fill an empty database from a backup')
    .argument('<file>', 'that "backup" has written, also with an older version of the site; - is standard input')
    .option(
      '--mails',
      'the site has not run since the backup: pending mails are sent, and subscriptions stay confirmed. Without it mails are withheld and subscriptions unconfirmed',
    )
    .action(async (file: string, { mails: siteHasNotRun = false }: { mails?: boolean }) => {
      const name = file === '-' ? 'standard input' : resolve(file)
      // Standard input is read to its end first: while a transaction waits for more, the site stores no orders.
      const bytes = file === '-' ? await buffer(input) : undefined
      const read = () => unzippedLines(() => (bytes ? Readable.from([bytes]) : createReadStream(file)))
      let outcome = UNCHANGED
      const fail = (error: unknown) => {
        throw explain(error, name, outcome)
      }
      await assertComplete(read()).catch(fail) // before a database is created
      const rolesAdvice = env().DATABASE_URL ? ' Run prisma/roles.sql again before the site starts.' : ''
      const onRecreated = () => {
        outcome = `No row was restored; the tables were created anew.${rolesAdvice}`
      }
      const work = async (db: Db, database: Database) => {
        const restored = await restore(database, read(), siteHasNotRun, onRecreated).catch(fail)
        const { rows, madeAt, withheld, unconfirmed, isRecreated } = restored
        await terminal.recordAccess(db, formatCount(rows, 'row', 'rows'))
        print(`Restored ${formatCount(rows, 'row', 'rows')} of the backup made at ${madeAt}.`)
        if (isRecreated && rolesAdvice) print(`The tables were created anew.${rolesAdvice}`)
        if (withheld > 0)
          print(
            `Withheld: ${formatCount(withheld, 'mail', 'mails')} that were pending in the backup (${staffCommand('mails')}).`,
          )
        if (unconfirmed > 0)
          print(
            `No longer confirmed: ${formatCount(unconfirmed, 'subscription', 'subscriptions')}, because people may have unsubscribed since the backup (--mails).`,
          )
      }
      await terminal.onDatabase(work, { migrate: true })
    })
}

/**
 * Fills the database in one transaction. For an older backup the empty tables are first created as they were then, and
 * migrated afterwards. Whenever this is interrupted, the next start migrates the database.
 */
async function restore(
  { db, withClient }: Database,
  lines: AsyncGenerator<string>,
  siteHasNotRun: boolean,
  onRecreated: () => void,
) {
  const folder = migrationsFolder()
  await assertEmpty(db)
  const backup = await openBackup(lines)
  const names = backup.head.migrations.map(({ name }) => name)
  const isRecreated = (await readMigrations(folder)).length > names.length
  const fillTables = () =>
    db.$transaction((transaction) => fill(transaction, backup, siteHasNotRun), { timeout: NO_LIMIT_MS })
  async function recreateAndFillTables() {
    const accessLog = await readAccessLog(db)
    await withClient((client) => recreateTables(client, folder, names))
    onRecreated()
    return insertAccessLog(db, accessLog)
      .then(fillTables)
      .finally(() => withClient((client) => migrate(client, folder)))
  }
  const filled = isRecreated ? await recreateAndFillTables() : await fillTables()
  return { ...filled, madeAt: backup.head.madeAt, isRecreated }
}

/** Its rows as JSON. */
async function readAccessLog(db: Queries): Promise<string> {
  const sql = `SELECT coalesce(json_agg(log), '[]')::text AS "rows" FROM ${quoted(ACCESS_LOG)} log`
  const [{ rows }] = await db.$queryRawUnsafe<[{ rows: string }]>(sql)
  return rows
}

async function insertAccessLog(db: Queries, rows: string): Promise<void> {
  const log = quoted(ACCESS_LOG)
  await db.$executeRawUnsafe(`INSERT INTO ${log} SELECT * FROM json_populate_recordset(NULL::${log}, $1::json)`, rows)
}

async function fill(db: Queries & Pick<Db, '$queryRaw'>, backup: Backup, siteHasNotRun: boolean) {
  await db.$executeRawUnsafe('SET LOCAL statement_timeout = 0')
  const tables = await readTables(db)
  await db.$executeRawUnsafe(`LOCK TABLE ${tables.map(({ name }) => quoted(name)).join()} IN EXCLUSIVE MODE`)
  await assertEmpty(db)
  const rows = await insertAll(db, backup)
  await db.$executeRawUnsafe(SET_SEQUENCES)
  if (siteHasNotRun) return { rows, withheld: 0, unconfirmed: 0 }
  const withheld = await withholdAfterRestore(db)
  const unconfirmed = await db.$executeRawUnsafe(
    `UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = NULL WHERE "ConfirmedAt" IS NOT NULL`,
  )
  return { rows, withheld, unconfirmed }
}

/** Reads the file to its end, which holds the checksum. */
async function assertComplete(lines: AsyncGenerator<string>): Promise<void> {
  const { batches } = await openBackup(lines)
  for await (const _ of batches);
}

async function assertEmpty(db: Queries) {
  for (const { name } of (await readTables(db)).filter((table) => table.name !== ACCESS_LOG)) {
    const rows = await db.$queryRawUnsafe<unknown[]>(`SELECT 1 FROM ${quoted(name)} LIMIT 1`)
    if (rows.length > 0) {
      throw new OperatorError(`The database has rows in ${name}. Restore into an empty one; nothing was changed.`)
    }
  }
}

/** @throws OperatorError for a backup that this version cannot understand */
function assertKnown({ version, migrations }: Head, known: string[]): void {
  const unknown = migrations.find(({ name }) => !known.includes(name))
  if (version <= FORMAT_VERSION && !unknown) return
  const what = unknown ? `migration ${unknown.name}` : `format ${version}`
  throw new OperatorError(
    `The backup was made by a newer version of the site (${what}). Restore it with that version; nothing was changed.`,
  )
}

/** Inserts while it reads: the transaction is rolled back when the checksum at the end is not that of these rows. */
async function insertAll(db: Queries, { batches }: Backup): Promise<number> {
  const tables = (await readTables(db)).map(({ name }) => name)
  let inserted = 0
  await db.$executeRawUnsafe('SET CONSTRAINTS ALL DEFERRED') // rows may refer to rows that come later
  for await (const { table, columns, rows } of batches) {
    if (!tables.includes(table)) throw new Damage('It holds a table that this site does not have')
    const [name, names] = [quoted(table), columns.map(quoted).join()]
    // The database may be the one of the backup, emptied by hand: its access log cannot be emptied.
    const conflict = table === ACCESS_LOG ? 'ON CONFLICT DO NOTHING' : ''
    await db.$executeRawUnsafe(
      `INSERT INTO ${name} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::${name}, $1::json) ${conflict}`,
      `[${rows.join()}]`,
    )
    if (table !== ACCESS_LOG) inserted += rows.length
  }
  await db.$executeRawUnsafe('SET CONSTRAINTS ALL IMMEDIATE')
  return inserted
}

/** Something is wrong with the file. The message quotes nothing of it: it may hold control characters of a terminal. */
class Damage extends Error {}

interface Backup {
  head: Head
  /** Throws at the end when the checksum is not that of these rows. */
  batches: AsyncGenerator<{ table: string; columns: string[]; rows: string[] }>
}

async function openBackup(lines: AsyncGenerator<string>): Promise<Backup> {
  const { value: first = '' } = await lines.next()
  const head = headSchema.safeParse(readMark(first))
  if (!head.success) throw new Damage('It does not begin as a backup')
  const known = await readMigrations(migrationsFolder())
  assertKnown(
    head.data,
    known.map(({ name }) => name),
  )
  return { head: head.data, batches: readBatches(first, lines) }
}

async function* readBatches(first: string, lines: AsyncGenerator<string>): Backup['batches'] {
  const checksum = createHash('sha256').update(`${first}\n`)
  let number = 1
  let total = 0
  let batch: { table: string; columns: string[]; rows: string[] } | undefined
  let characters = 0
  for await (const line of lines) {
    number++
    const mark = line.startsWith(MARK) ? markSchema.safeParse(readMark(line)) : undefined
    if (mark?.success === false || (!mark && !batch)) throw new Damage(`Line ${number} is not a line of a backup`)
    if (batch?.rows.length && (mark || characters > CHARACTERS_AT_ONCE)) {
      yield batch
      total += batch.rows.length
      batch = { ...batch, rows: [] }
      characters = 0
    }
    if (!mark) {
      batch?.rows.push(line)
    } else if ('table' in mark.data) {
      batch = { ...mark.data, rows: [] }
    } else {
      if (mark.data.sha256 === checksum.digest('hex') && mark.data.rows === total) return
      break
    }
    characters += line.length
    checksum.update(`${line}\n`)
  }
  throw new Damage('Its end is missing, or is not that of these rows')
}

/** What a line says about the file; undefined when it is no JSON. */
function readMark(line: string): unknown {
  try {
    return JSON.parse(line.slice(MARK.length))
  } catch {
    return undefined
  }
}

/**
 * The lines of a gzip file. `open` is called for the first line, so that no error of the stream comes before somebody
 * listens. Node's readline would also end lines at U+2028, which people's texts may hold.
 */
export async function* unzippedLines(open: () => Readable): AsyncGenerator<string> {
  const texts = pipeline(open(), createGunzip(), () => {}).setEncoding('utf8') // an error ends the texts too
  let number = 1
  let rest = ''
  for await (const text of texts) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
    number += lines.length
    if (rest.length > LINE_MAX) throw new Damage(`Line ${number} is longer than ${LINE_MAX} characters`)
  }
  if (rest) yield rest
}

/** Says what is wrong with the file, where the error is due to it. */
function explain(error: unknown, file: string, outcome: string): unknown {
  if (error instanceof OperatorError || !(error instanceof Error)) return error
  const { code = '', syscall, message } = error as NodeJS.ErrnoException
  if (error.name.startsWith('Prisma') && INVALID_ROWS.test(sqlState(error) ?? ''))
    return new OperatorError(`${file} is damaged: its rows do not fit together. ${outcome}`)
  if (syscall) return new OperatorError(`${file} cannot be read: ${message}.`, { cause: error })
  if (error instanceof Damage || code.startsWith('Z_'))
    return new OperatorError(`${file} is damaged or no backup: ${message}. ${outcome}`, { cause: error })
  return error
}
