import { hostname, userInfo } from 'node:os'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { formatIndianTime } from '../shared/indian-time.ts'
import type { Database, Db, Preparation } from './database/database.ts'
import type { Env } from './env.ts'
import { describeFailure } from './errors.ts'

/** Wrong usage: exit code 2. */
export class UsageError extends Error {}

/** Adds a command to the program, or to a command. */
export type AddCommand = (name: string) => Command

/** What a command works with. Tests pass their own streams. */
export interface Terminal {
  /** @throws OperatorError when a variable is wrong. A command reads it after its own arguments. */
  env(): Env
  input: Readable
  output: Writable & { columns?: number; isTTY?: boolean }
  errors: Writable & { isTTY?: boolean }
  print(line: string): void
  /** Opens the site's database, beside the running site or without it. */
  onDatabase<T>(work: (db: Db, database: Database) => Promise<T>, options?: Preparation): Promise<T>
  /** Adds a line to the access log: the references of the enquiries, or how many rows of what. */
  recordAccess(db: Pick<Db, 'access'>, what: string): Promise<void>
}

/** Texts come from visitors and mail services: what would move the cursor or hide characters becomes a space. */
function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()
}

/** A time stands in a column whose title says `IST`: `09 Nov 18:13`, with the year if it is not the current one. */
function cellText(value: string | Date | null | undefined): string {
  if (!(value instanceof Date)) return onOneLine(value ?? '')
  const year = formatIndianTime(new Date()).slice(6, 11) // ' 2026'
  return formatIndianTime(value).replace(year, '').replace(/ IST$/, '')
}

/** The keys are the titles. Columns that are empty in all rows are left out. */
export function printTable({ print }: Pick<Terminal, 'print'>, rows: Record<string, string | Date | null>[]): void {
  const titles = Object.keys(rows[0] ?? {}).filter((title) => rows.some((row) => row[title]))
  const columns = titles.map((title) => {
    const cells = [title, ...rows.map((row) => cellText(row[title]))]
    const width = Math.max(...cells.map(({ length }) => length))
    return cells.map((cell) => cell.padEnd(width))
  })
  for (const index of columns[0]?.keys() ?? []) {
    const line = columns.map((cells) => cells[index]).join('  ')
    print(line.trimEnd())
  }
}

/** An array, written an element at a time. */
export async function writeJson({ output }: Terminal, rows: AsyncIterable<object>) {
  async function* toText() {
    let before = '['
    for await (const row of rows) {
      yield `${before}\n  ${JSON.stringify(row, undefined, 2).replaceAll('\n', '\n  ')}`
      before = ','
    }
    yield before === '[' ? '[]\n' : '\n]\n'
  }
  await pipeline(Readable.from(toText(), { objectMode: false }), output, { end: false })
}

/** Where a line of the access log cannot be written, as on a read replica or a full disk, a command says so and goes on. */
export function notRecorded(error: unknown): string {
  return `This access could not be recorded in the access log (Quvera_Access): ${describeFailure(error)}`
}

/** STAFF_NAME or the user, and the machine. Not verified. */
export function userOf({ STAFF_NAME }: Pick<Env, 'STAFF_NAME'>): string {
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
