import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { withDatabase } from '../database/open-database.ts'
import { type Queries, quoted, readMigrations, readTables, type Table } from '../database/tables.ts'
import { OperatorError, sqlState } from '../errors.ts'
import { heldBack } from '../mail/delivered.ts'
import { count } from '../words.ts'
import { FORMAT, FORMAT_VERSION, type Head, readMark } from './backup-format.ts'
import { type Command, parse, UsageError } from './command.ts'
import { unzippedLines } from './lines.ts'

const ROWS_AT_ONCE = 500
const NO_LIMIT_MS = 2 ** 31 - 1

export const restoreCommand: Command = {
  login: "the tables' owner",
  summary: 'fill an empty database from a backup',
  help: `Usage: npm run -s staff -- restore FILE [--mails]
       npm run -s staff -- restore - [--mails] < FILE

Fills the database of DATA_DIR or DATABASE_URL, which must hold no rows yet, from a file that "backup" has written:
either all of it or, when anything is wrong, nothing. On PostgreSQL it needs the owner of the tables.

  --mails   mails that were still to be sent in the backup shall go out. Without it they are held back (Withheld),
            because they may have been sent since the backup was made: "mails" shows them, "mails retry --restored" sends them.`,
  async run(args, env) {
    const { values, positionals } = parse(args, { mails: { type: 'boolean', default: false } }, { positionals: true })
    const [file, ...rest] = positionals
    if (!file || rest.length > 0) throw new UsageError('Name one file, or - for standard input')
    const lines = unzippedLines(() => (file === '-' ? process.stdin : createReadStream(file)))
    await withDatabase(env(), async ({ db }) => {
      const result = await db
        .$transaction((transaction) => restore(transaction, lines, values.mails), { timeout: NO_LIMIT_MS })
        .catch((error) => {
          throw explain(error, file)
        })
      console.log(`Restored ${count(result.rows, 'row', 'rows')} of the backup made at ${result.madeAt}.`)
      if (result.held > 0) {
        console.log(
          `Held back: ${count(result.held, 'mail', 'mails')} that the backup had still to send (staff mails).`,
        )
      }
    })
  },
}

async function restore(db: Queries, lines: AsyncGenerator<string>, sendMails: boolean) {
  const tables = await readTables(db)
  await db.$executeRawUnsafe(`LOCK TABLE ${tables.map(({ name }) => quoted(name)).join()} IN EXCLUSIVE MODE`)
  await expectEmpty(db, tables)
  const { rows, madeAt } = await insertAll(db, lines, tables)
  for (const { name, counted } of tables) {
    for (const column of counted) {
      await db.$executeRawUnsafe(
        `SELECT setval(pg_get_serial_sequence($1, $2), max(${quoted(column)})) FROM ${quoted(name)} HAVING count(*) > 0`,
        quoted(name),
        column,
      )
    }
  }
  const held = sendMails
    ? 0
    : await db.$executeRawUnsafe(
        `UPDATE "Quvera_Mail" SET "Status" = 'Withheld', "LastError" = $1 WHERE "Status" = 'Pending'`,
        heldBack.lastError,
      )
  return { rows, madeAt, held }
}

async function expectEmpty(db: Queries, tables: Table[]) {
  for (const { name } of tables) {
    const rows = await db.$queryRawUnsafe<unknown[]>(`SELECT 1 FROM ${quoted(name)} LIMIT 1`)
    if (rows.length > 0) {
      throw new OperatorError(`The database has rows in ${name}. Restore into an empty one; nothing was changed.`)
    }
  }
}

/** Reads the file to its end, checksum included, and inserts as it reads: the transaction takes it back if need be. */
async function insertAll(db: Queries, lines: AsyncGenerator<string>, tables: Table[]) {
  const checksum = createHash('sha256')
  let head: Head | undefined
  let insert: string | undefined
  let batch: string[] = []
  let rows = 0
  const flush = async () => {
    if (batch.length > 0 && insert) await db.$executeRawUnsafe(insert, `[${batch.join()}]`)
    rows += batch.length
    batch = []
  }
  for await (const line of lines) {
    const mark = readMark(line)
    if (!head) {
      head = await readHead(db, mark)
    } else if (mark?.end) {
      await flush()
      if (mark.sha256 === checksum.digest('hex') && mark.rows === rows) return { rows, madeAt: head.madeAt }
      break
    } else if (mark) {
      await flush()
      insert = insertInto(mark, tables)
    } else if (batch.push(line) >= ROWS_AT_ONCE) {
      await flush()
    }
    checksum.update(`${line}\n`)
  }
  throw new Error('The end is missing, or is not that of these rows')
}

async function readHead(db: Queries, mark: ReturnType<typeof readMark>): Promise<Head> {
  if (mark?.format !== FORMAT || !mark.version || !mark.migrations) throw new Error('It does not begin as a backup')
  const known = new Set((await readMigrations(db)).map(({ name }) => name))
  const unknown = mark.migrations.find(({ name }) => !known.has(name))
  if (mark.version > FORMAT_VERSION || unknown) {
    const what = unknown ? `migration ${unknown.name}` : `format ${mark.version}`
    throw new OperatorError(
      `The backup was made by a newer version of the site (${what}). Restore it with that version; nothing was changed.`,
    )
  }
  return mark as Head
}

function insertInto({ table, columns }: NonNullable<ReturnType<typeof readMark>>, tables: Table[]): string {
  const target = tables.find(({ name }) => name === table)
  const missing = columns?.find((column) => !target?.columns.includes(column))
  if (!target || !columns || missing !== undefined) {
    throw new OperatorError(
      `The database has no place for ${[table, missing].filter(Boolean).join('.')} of the backup. Restore it with the version it was made with, then update; nothing was changed.`,
    )
  }
  const names = columns.map(quoted).join()
  const name = quoted(target.name)
  return `INSERT INTO ${name} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::${name}, $1::json)`
}

/** What is no refusal of ours, nor the database's, is the file's. */
function explain(error: unknown, file: string): unknown {
  if (error instanceof OperatorError) return error
  const name = file === '-' ? 'standard input' : resolve(file)
  if (error instanceof Error && error.name.startsWith('Prisma')) {
    const isRow = /^2[23]/.test(sqlState(error) ?? '')
    return isRow ? new OperatorError(`${name} is damaged: its rows do not fit together. Nothing was changed.`) : error
  }
  const { code, message } = error as NodeJS.ErrnoException
  if (code && !code.startsWith('Z_')) return new OperatorError(`${name} cannot be read: ${message}.`, { cause: error })
  return new OperatorError(`${name} is damaged or no backup: ${message}. Nothing was changed.`, { cause: error })
}
