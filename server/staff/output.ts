import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { stringify } from 'csv-stringify'
import stringWidth from 'string-width'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { formatIndianTime } from '../format.ts'

/** Adds a command to the program, or to a command. */
export type AddCommand = (name: string) => Command

/** What a command reads from and writes to: the streams of the process, or those of a test. */
export interface Terminal {
  /** @throws OperatorError when a variable is wrong. A command reads it after its own arguments. */
  env(): Env
  input: Readable
  output: Writable & { columns?: number; isTTY?: boolean }
  errors: Writable & { isTTY?: boolean }
  print(line: string): void
  /** Opens the site's database, beside the running site or without it. */
  onDatabase<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** Adds a line to the access log: the references of the enquiries, or how many rows of what. */
  recordAccess(db: Pick<Db, 'access'>, what: string | { reference: string }[]): Promise<void>
}

/** Texts come from visitors and mail services: what would move the cursor or hide characters becomes a space. */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()
}

/** Columns are listed by importance: a narrow terminal leaves out the last ones. */
export interface Column<Row> {
  title: string
  cell(row: Row): string
  /** A terminal cuts the text to this width, or to the width that is left. Other columns are never cut. */
  max?: number
}

const GAP = '  '
const CUT_MIN = 10

/** For columns whose title says `IST`. */
export function timeCell(time: Date): string {
  return formatIndianTime(time).replace(/ IST$/, '')
}

/** Prints a table that fits the terminal; into a file or a pipe it is printed whole. */
export function printTable<Row>({ output, print }: Terminal, columns: Column<Row>[], rows: Row[]): void {
  for (const line of tableLines(columns, rows, output.columns)) print(line)
}

/** Leaves out columns that are empty, and those for which `width` has no room. */
export function tableLines<Row>(columns: Column<Row>[], rows: Row[], width?: number): string[] {
  let left = width ?? Number.POSITIVE_INFINITY
  const lines: string[][] = [[], ...rows.map(() => [])]
  for (const { title, cell, max } of columns) {
    const cells = [title, ...rows.map((row) => onOneLine(cell(row)))]
    if (rows.length > 0 && !cells.slice(1).some(Boolean)) continue
    const whole = Math.max(...cells.map((text) => stringWidth(text)))
    const size = width && max ? Math.min(whole, max, Math.max(left, CUT_MIN)) : whole
    if (size > left) continue
    left -= size + GAP.length
    for (const [index, text] of cells.entries()) lines[index]?.push(padOrCut(text, size))
  }
  return lines.map((cells) => cells.join(GAP).trimEnd())
}

function padOrCut(text: string, size: number): string {
  const missing = size - stringWidth(text)
  if (missing >= 0) return text + ' '.repeat(missing)
  const characters = [...text].slice(0, 2 * size) // a combining mark is a character of its own
  while (stringWidth(characters.join('')) > size - 1) characters.pop()
  return `${characters.join('')}…`.padEnd(size)
}

/** For spreadsheets: with a byte order mark, so that names keep their letters, and without text that runs as a formula. */
export function writeCsv({ output }: Terminal, columns: string[], rows: Iterable<object> | AsyncIterable<object>) {
  const options = { header: true, bom: true, quoted_string: true, escape_formulas: true, columns }
  const cast = { boolean: (value: boolean) => (value ? 'yes' : 'no') }
  return pipeline(rows, stringify({ ...options, record_delimiter: 'windows', cast }), output)
}
