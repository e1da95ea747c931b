// Fills an empty database from a backup.
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Database, Db } from '../database/database.ts'
import { migrate, recreateTables } from '../database/migrations.ts'
import { ACCESS_LOG, type Queries, quoted, readTables } from '../database/snapshot.ts'
import { OperatorError, sqlState } from '../errors.ts'
import { formatCount, staffCommand } from '../format.ts'
import { migrationsFolder } from '../project-root.ts'
import { assertComplete, type Backup, BackupFormatError, openBackup, unzippedLines } from './backup-file.ts'
import { withholdAfterRestore } from './mail-sections.ts'
import type { AddCommand, Terminal } from './output.ts'

const NO_LIMIT_MS = 2 ** 31 - 1
/** PostgreSQL's error codes for invalid values, broken constraints and unknown columns. */
const INVALID_ROWS = /^2[23]|^42703/
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
      const explainFailure = (error: unknown) => {
        throw toOperatorError(error, name)
      }
      await assertComplete(read()).catch(explainFailure) // before a database is created
      const work = async (db: Db, database: Database) => {
        await assertEmpty(db)
        const backup = await openBackup(read()).catch(explainFailure)
        if (backup.isOlder) {
          await database.withClient((client) => recreateTables(client, migrationsFolder()))
          if (env().DATABASE_URL)
            print('The tables were created anew. Run prisma/roles.sql again before the site starts.')
        }
        const filled = backup.isOlder ? fillOlder(database, backup, siteHasNotRun) : fill(db, backup, siteHasNotRun)
        const { rows, withheld, unconfirmed } = await filled.catch(explainFailure)
        await terminal.recordAccess(db, formatCount(rows, 'row', 'rows'))
        print(`Restored ${formatCount(rows, 'row', 'rows')} of the backup made at ${backup.head.madeAt}.`)
        if (withheld > 0)
          print(
            `Withheld: ${formatCount(withheld, 'mail', 'mails')} that were pending in the backup. ${staffCommand('mails')} lists them.`,
          )
        if (unconfirmed > 0)
          print(
            `No longer confirmed: ${formatCount(unconfirmed, 'subscription', 'subscriptions')}, because people may have unsubscribed since the backup. With --mails they stay confirmed.`,
          )
      }
      await terminal.onDatabase(work, { migrate: true })
    })
}

/**
 * Migrates the tables to the version of the backup, fills them, and migrates them on. Whenever this is interrupted, the next
 * start migrates the database.
 */
async function fillOlder({ db, withClient }: Database, backup: Backup, siteHasNotRun: boolean) {
  const names = backup.head.migrations.map(({ name }) => name)
  try {
    await withClient((client) => migrate(client, migrationsFolder(), names))
    return await fill(db, backup, siteHasNotRun)
  } finally {
    await withClient((client) => migrate(client, migrationsFolder()))
  }
}

/** Fills the tables in one transaction. */
async function fill(db: Db, backup: Backup, siteHasNotRun: boolean) {
  const fillAll = async (transaction: Queries & Pick<Db, '$queryRaw'>) => {
    await transaction.$executeRawUnsafe('SET LOCAL statement_timeout = 0')
    const tables = (await readTables(transaction)).map(({ name }) => name)
    await transaction.$executeRawUnsafe(`LOCK TABLE ${tables.map(quoted).join()} IN EXCLUSIVE MODE`)
    await assertEmpty(transaction)
    const rows = await insertAll(transaction, backup, tables)
    await transaction.$executeRawUnsafe(SET_SEQUENCES)
    if (siteHasNotRun) return { rows, withheld: 0, unconfirmed: 0 }
    const withheld = await withholdAfterRestore(transaction)
    const unconfirmed = await transaction.$executeRawUnsafe(
      `UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = NULL WHERE "ConfirmedAt" IS NOT NULL`,
    )
    return { rows, withheld, unconfirmed }
  }
  return db.$transaction(fillAll, { timeout: NO_LIMIT_MS })
}

async function assertEmpty(db: Queries) {
  for (const { name } of (await readTables(db)).filter((table) => table.name !== ACCESS_LOG)) {
    const rows = await db.$queryRawUnsafe<unknown[]>(`SELECT 1 FROM ${quoted(name)} LIMIT 1`)
    if (rows.length > 0) {
      throw new OperatorError(`The database has rows in ${name}: no row was restored. Restore into an empty one.`)
    }
  }
}

/** Inserts while it reads: the transaction is rolled back when the checksum at the end is not that of these rows. */
async function insertAll(db: Queries, { batches }: Backup, tables: string[]): Promise<number> {
  let inserted = 0
  await db.$executeRawUnsafe('SET CONSTRAINTS ALL DEFERRED') // rows may refer to rows that come later
  for await (const { table, columns, rows } of batches) {
    if (!table.startsWith('Quvera_')) continue // of another program: earlier versions backed it up
    if (!tables.includes(table)) throw new BackupFormatError('It holds a table that this site does not have')
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

/** Says what is wrong with the file, where the error is due to it. */
function toOperatorError(error: unknown, file: string): unknown {
  if (error instanceof OperatorError || !(error instanceof Error)) return error
  const { code = '', syscall, message } = error as NodeJS.ErrnoException
  if (error.name.startsWith('Prisma') && INVALID_ROWS.test(sqlState(error) ?? ''))
    return new OperatorError(`${file} is damaged: its rows do not fit the tables. No row was restored.`)
  if (syscall) return new OperatorError(`${file} cannot be read: ${message}.`, { cause: error })
  if (error instanceof BackupFormatError || code.startsWith('Z_'))
    return new OperatorError(`${file} is damaged or no backup: ${message}. No row was restored.`, { cause: error })
  return error
}
