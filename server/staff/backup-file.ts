/*
 * A backup is a gzip file of lines. A line that begins with @ is about the file. Every other line is a row in JSON, its
 * values as PostgreSQL writes and reads them:
 *   @{"format":"quvera-backup","version":1,"madeAt":…,"migrations":[{"name":…,"checksum":…}]}
 *   @{"table":…,"columns":[…]} and then its rows; so each table
 *   @{"end":true,"rows":…,"sha256":…} with the number of all rows, and the checksum of all lines before
 */
import { createHash } from 'node:crypto'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import * as z from 'zod/mini'
import { readMigrations } from '../database/migrations.ts'
import { OperatorError } from '../errors.ts'
import { migrationsFolder } from '../project-root.ts'

/** Longer than any row can be. */
const LINE_MAX = 2 ** 20
/** Some hundred rows are inserted at once. */
const CHARACTERS_AT_ONCE = 2 ** 18
export const FORMAT = 'quvera-backup'
export const FORMAT_VERSION = 1
const MARK = '@'

const name = z.string().check(z.regex(/^[\w-]{1,255}$/))

const headSchema = z.object({
  format: z.literal(FORMAT),
  version: z.int(),
  madeAt: z.iso.datetime(),
  migrations: z.array(z.object({ name, checksum: z.string() })),
})
const markSchema = z.union([
  z.object({ table: name, columns: z.array(name) }),
  z.object({ end: z.literal(true), rows: z.int(), sha256: z.string() }),
])

type Head = z.infer<typeof headSchema>

export function formatMark(mark: Head | z.infer<typeof markSchema>): string {
  return MARK + JSON.stringify(mark)
}

/** What a line says about the file; undefined when it is no JSON. */
function readMark(line: string): unknown {
  try {
    return JSON.parse(line.slice(MARK.length))
  } catch {
    return undefined
  }
}

/** Something is wrong with the file. The message quotes nothing of it: it may hold control characters of a terminal. */
export class BackupFormatError extends Error {}

export interface Backup {
  head: Head
  /** This version of the site has migrations that the backup lacks. */
  isOlder: boolean
  /** Throws at the end when the checksum is not that of these rows. */
  batches: AsyncGenerator<{ table: string; columns: string[]; rows: string[] }>
}

export async function openBackup(lines: AsyncGenerator<string>): Promise<Backup> {
  const { value: first = '' } = await lines.next()
  const head = headSchema.safeParse(readMark(first))
  if (!head.success) throw new BackupFormatError('It does not begin as a backup')
  const known = (await readMigrations(migrationsFolder())).map(({ name }) => name)
  assertKnown(head.data, known)
  const isOlder = known.length > head.data.migrations.length
  return { head: head.data, isOlder, batches: readBatches(first, lines) }
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

/** Reads the file to its end, which holds the checksum. */
export async function assertComplete(lines: AsyncGenerator<string>): Promise<void> {
  const { batches } = await openBackup(lines)
  for await (const _ of batches);
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
    if (mark?.success === false || (!mark && !batch))
      throw new BackupFormatError(`Line ${number} is not a line of a backup`)
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
  throw new BackupFormatError('Its end is missing, or its checksum is wrong')
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
    if (rest.length > LINE_MAX) throw new BackupFormatError(`Line ${number} is longer than ${LINE_MAX} characters`)
  }
  if (rest) yield rest
}
