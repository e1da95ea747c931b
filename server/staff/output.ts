import type { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import type { Options } from 'csv-stringify'
import stringWidth from 'string-width'
import type { Db } from '../database/database.ts'
import { enquiryFields, columns as fieldColumns, toEnquiry } from '../enquiries/enquiry.ts'
import type { Env } from '../env.ts'
import { inIndia } from '../words.ts'

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
  noteAccess(db: Pick<Db, 'access'>, what: string | { reference: string }[]): Promise<void>
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
  spare?: number
}

const GAP = '  '

/** For the title `Received IST`. */
export function timeCell(time: Date): string {
  return inIndia(time).replace(/ IST$/, '')
}

/** A table fitted to the terminal; into a file or a pipe it goes whole. Columns in which nothing stands are left out. */
export function printTable<Row>({ output, print }: Terminal, columns: Column<Row>[], rows: Row[]): void {
  for (const line of tableLines(columns, rows, output.columns)) print(line)
}

export function tableLines<Row>(columns: Column<Row>[], rows: Row[], width = Number.POSITIVE_INFINITY): string[] {
  const told = columns.filter(({ cell }) => rows.length === 0 || rows.some((row) => cell(row) !== ''))
  const sized = told.map(({ title, cell, min, spare = 0 }) => {
    const cells = [title, ...rows.map((row) => onOneLine(cell(row)))]
    const size = Math.max(...cells.map((cell) => stringWidth(cell)))
    return { cells, size, min: Math.min(min ?? size, size), spare }
  })
  const fitted = fitTo(sized, width)
  return [undefined, ...rows].map((_, line) =>
    fitted
      .map(({ cells, size }) => padOrCut(cells[line] ?? '', size))
      .join(GAP)
      .trimEnd(),
  )
}

interface Sized {
  cells: string[]
  size: number
  min: number
  spare: number
}

/** Leaves out spare columns until the others fit at their narrowest, then narrows the widest as far as needed. */
function fitTo(all: Sized[], width: number): Sized[] {
  let columns = all.map((column) => ({ ...column }))
  const total = (of: 'size' | 'min') =>
    columns.reduce((sum, column) => sum + column[of], (columns.length - 1) * GAP.length)
  while (total('min') > width && columns.some(({ spare }) => spare > 0)) {
    const most = Math.max(...columns.map(({ spare }) => spare))
    columns = columns.filter(({ spare }) => spare !== most)
  }
  for (let over = total('size') - width; over > 0; over--) {
    const [widest] = columns.filter(({ size, min }) => size > min).sort((a, b) => b.size - a.size)
    if (!widest) break
    widest.size--
  }
  return columns
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

/** Ends of the record that staff read first and last; the fields of the form stand between. */
const HEAD = ['Reference', 'Received', 'Status'] as const
const TAIL = ['SuspectedSpam', 'StaffMail', 'AcknowledgementMail', 'LastError', 'ReceivedAt', 'Id', 'Note'] as const

/** As in the view `Quvera_Enquiries`. */
export const recordColumns = [...HEAD, ...Object.values(fieldColumns), ...TAIL]

/** What a record tells of the mails. */
export const recordMails = { select: { kind: true, status: true, lastError: true } } as const

type Row = Parameters<typeof toEnquiry>[0] & {
  status: string
  note: string | null
  mails: { kind: string; status: string; lastError: string | null }[]
}

/** An enquiry in words, for spreadsheets and programs. */
export function toRecord(row: Row): Record<string, string | bigint | boolean> {
  const mail = (kind: string) => row.mails.find((each) => each.kind === kind)
  const enquiry = toEnquiry(row)
  return {
    Reference: row.reference,
    Received: inIndia(row.receivedAt),
    Status: row.status,
    ...Object.fromEntries(enquiryFields.map((field) => [fieldColumns[field], enquiry[field]])),
    Quantity: row.quantity,
    SuspectedSpam: row.suspectedSpam,
    StaffMail: mail('Staff')?.status ?? '-',
    AcknowledgementMail: mail('Acknowledgement')?.status ?? '-',
    LastError: mail('Staff')?.lastError ?? mail('Acknowledgement')?.lastError ?? '',
    ReceivedAt: row.receivedAt.toISOString(),
    Id: row.id,
    Note: row.note ?? '',
  }
}

/** For spreadsheets: a byte order mark, so that names keep their letters, and no text that would run as a formula. */
export const csvOptions: Options = {
  header: true,
  bom: true,
  quoted_string: true,
  escape_formulas: true,
  record_delimiter: 'windows',
  cast: { boolean: (value) => (value ? 'yes' : 'no'), bigint: String },
}
