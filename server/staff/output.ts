import { hostname, userInfo } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { stringify } from 'csv-stringify'
import stringWidth from 'string-width'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { describeFailure } from '../errors.ts'
import { formatCount, formatIndianTime } from '../format.ts'

/** Adds a command to the program, or to a command. */
export type AddCommand = (name: string) => Command

/** Where a command reads and writes: the streams of the process, or those of a test. */
export interface Terminal {
  /** @throws OperatorError when a variable is wrong: a command asks once its own words are understood */
  env(): Env
  input: Readable
  output: Writable & { columns?: number; isTTY?: boolean }
  errors: Writable & { isTTY?: boolean }
  /** Writes a line to the output. */
  print(line: string): void
  /** Works on the site's database as it is, beside the site or without it. */
  onDatabase<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** Writes down whose data is shown or changed: the references, or how many of what. */
  recordAccess(db: Pick<Db, 'access'>, what: string | { reference: string }[]): Promise<void>
}

export const NAMED_MAX = 5

/**
 * Writes down that a command shows, exports, changes or erases people's data. Where that cannot be, as on a read replica
 * or a full disk, the command goes on and says so.
 * @param what the references, or how many of what; nothing about a person
 */
export async function recordAccess(
  { command, env, errors }: { command: string } & Pick<Terminal, 'env' | 'errors'>,
  db: Pick<Db, 'access'>,
  what: string | { reference: string }[],
): Promise<void> {
  const words = typeof what === 'string' ? what : enquiriesOf(what)
  const who = whoIs(env())
  await db.access.createMany({ data: { who, command, what: words } }).catch((error) => {
    errors.write(`This access is not written down in Quvera_Access: ${describeFailure(error)}\n`)
  })
}

function enquiriesOf(rows: { reference: string }[]): string {
  const isShort = rows.length > 0 && rows.length <= NAMED_MAX
  return isShort ? rows.map(({ reference }) => reference).join(' ') : formatCount(rows.length, 'enquiry', 'enquiries')
}

/** As the command says it itself. */
export function whoIs({ STAFF_NAME }: Pick<Env, 'STAFF_NAME'>): string {
  return `${STAFF_NAME ?? userName()}@${hostname()}`
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}

/** Texts come from visitors and mail services: what would move the cursor or hide characters becomes a space. */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()
}

export interface Column<Row> {
  title: string
  cell(row: Row): string
  /** How narrow it may become where the terminal is too narrow; otherwise it keeps its width. */
  min?: number
  /** Set on columns that a narrow terminal does without: the highest number goes first. */
  spare?: 1 | 2 | 3 | 4 | 5
}

const GAP = '  '

/** For the title `Received IST`. */
export function timeCell(time: Date): string {
  return formatIndianTime(time).replace(/ IST$/, '')
}

/** A table fitted to the terminal; into a file or a pipe it goes whole. Columns in which nothing stands are left out. */
export function printTable<Row>({ output, print }: Terminal, columns: Column<Row>[], rows: Row[]): void {
  for (const line of tableLines(columns, rows, output.columns)) print(line)
}

/** Leaves out spare columns until the others fit at their narrowest, then narrows the widest as far as needed. */
export function tableLines<Row>(columns: Column<Row>[], rows: Row[], width = Number.POSITIVE_INFINITY): string[] {
  let fitted = columns
    .map(({ title, cell, min = Number.POSITIVE_INFINITY, spare }) => {
      const cells = [title, ...rows.map((row) => onOneLine(cell(row)))]
      const size = Math.max(...cells.map((each) => stringWidth(each)))
      return { cells, size, min: Math.min(min, size), spare }
    })
    .filter(({ cells }) => rows.length === 0 || cells.slice(1).some(Boolean))
  const excess = (of: 'size' | 'min') =>
    fitted.reduce((sum, column) => sum + column[of], (fitted.length - 1) * GAP.length) - width
  for (const next of [5, 4, 3, 2, 1]) if (excess('min') > 0) fitted = fitted.filter(({ spare }) => spare !== next)
  while (excess('size') > 0) {
    const [widest] = fitted.filter(({ size, min }) => size > min).sort((a, b) => b.size - a.size)
    if (!widest) break
    widest.size--
  }
  const line = (index: number) => fitted.map(({ cells, size }) => padOrCut(cells[index] ?? '', size))
  return [-1, ...rows.keys()].map((row) =>
    line(row + 1)
      .join(GAP)
      .trimEnd(),
  )
}

function padOrCut(text: string, size: number): string {
  const missing = size - stringWidth(text)
  if (missing >= 0) return text + ' '.repeat(missing)
  let cut = ''
  for (const character of text) {
    if (stringWidth(cut + character) > size - 1) break
    cut += character
  }
  return `${cut}…`
}

/** For spreadsheets: a byte order mark, so that names keep their letters, and no text that would run as a formula. */
export function writeCsv({ output }: Terminal, columns: string[], rows: Iterable<object> | AsyncIterable<object>) {
  const options = { header: true, bom: true, quoted_string: true, escape_formulas: true, columns }
  const cast = { boolean: (value: boolean) => (value ? 'yes' : 'no'), bigint: String }
  return pipeline(rows, stringify({ ...options, record_delimiter: 'windows', cast }), output)
}
