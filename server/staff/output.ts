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

export interface Column<Row> {
  title: string
  cell(row: Row): string
  /** On a terminal this text is cut to so many characters, or to the width that the other columns leave. */
  max?: number
}

const GAP = '  '
const CUT_MIN = 12

/** For columns whose title says `IST`: `09 Nov 2026 18:13`. */
export function dateCell(time: Date): string {
  return formatIndianTime(time).replace(/ IST$/, '')
}

/** As `dateCell`, without the year if it is the current one. */
export function timeCell(time: Date): string {
  return dateCell(time).replace(` ${dateCell(new Date()).slice(7, 11)} `, ' ')
}

/** Prints a table that fits the terminal; into a file or a pipe it is printed whole. */
export function printTable<Row>({ output, print }: Terminal, columns: Column<Row>[], rows: Row[]): void {
  for (const line of tableLines(columns, rows, output.columns || undefined)) print(line) // 0: a terminal without a size
}

/** Where `width` has no room, columns with `max` are cut or left out. One without `max` is left out when it does not fit. */
export function tableLines<Row>(columns: Column<Row>[], rows: Row[], width = Number.POSITIVE_INFINITY): string[] {
  const filled = columns
    .map(({ title, cell, max }) => {
      const cells = [title, ...rows.map((row) => onOneLine(cell(row)))]
      return { cells, max, size: Math.max(...cells.map((text) => stringWidth(text))) }
    })
    .filter(({ cells }) => rows.length === 0 || cells.slice(1).some(Boolean))
  if (width === Number.POSITIVE_INFINITY) return joinCells(filled)
  let left = width + GAP.length
  const fixed = filled.filter(({ size, max }) => {
    const fits = !max && size + GAP.length <= left
    if (fits) left -= size + GAP.length
    return fits
  })
  const texts = filled.filter(({ max }) => max)
  const share = (count: number) => Math.floor(left / count) - GAP.length
  while (texts.length > 0 && share(texts.length) < CUT_MIN) texts.pop()
  for (const [index, text] of texts.entries()) {
    text.size = Math.min(text.size, text.max ?? 0, share(texts.length - index))
    left -= text.size + GAP.length
  }
  return joinCells(filled.filter((column) => fixed.includes(column) || texts.includes(column)))
}

function joinCells(columns: { cells: string[]; size: number }[]): string[] {
  return (columns[0]?.cells ?? []).map((_, row) =>
    columns
      .map(({ cells, size }) => padOrCut(cells[row] ?? '', size))
      .join(GAP)
      .trimEnd(),
  )
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
