// Writes a backup: one file with all rows, made beside the running site.
import { createHash } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Database, Db } from '../database/database.ts'
import { ACCESS_LOG, type Snapshot, withSnapshot } from '../database/snapshot.ts'
import { OperatorError } from '../errors.ts'
import { formatCount } from '../format.ts'
import { FORMAT, FORMAT_VERSION, formatMark } from './backup-file.ts'
import { UsageError } from './input.ts'
import type { AddCommand, Terminal } from './output.ts'

/** Of the access log, which comes first and is no row to back up. */
const HELD_BACK_MAX = 2 ** 20
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const EMPTY =
  "There is nothing to back up: the database holds no rows. Is it the site's database? DATA_DIR or DATABASE_URL says which it is. --allow-empty writes a backup of nothing."

export function backupCommand(add: AddCommand, terminal: Terminal) {
  const { output, errors } = terminal
  add('backup')
    .description('write everything into one file, while the site runs')
    .argument('<file>', 'must not exist yet, and only this user can read it; - is standard output')
    .option('--allow-empty', 'also of a database without rows')
    .action(async (file: string, { allowEmpty = false }: { allowEmpty?: boolean }) => {
      if (file === '-' && output.isTTY)
        throw new UsageError('A backup is not shown in a terminal: write it to a file with > FILE')
      const created = file === '-' ? undefined : await open(file, 'wx', 0o600).catch(refuse)
      try {
        const rows = await write(terminal, created?.createWriteStream({ flush: true }) ?? output, allowEmpty)
        errors.write(`Wrote ${formatCount(rows, 'row', 'rows')} to ${created ? file : 'standard output'}.\n`)
      } catch (error) {
        if (created) await unlink(file)
        throw error
      }
    })
}

function refuse(error: Error): never {
  throw new OperatorError(`The backup cannot be written: ${error.message}`, { cause: error })
}

interface Written {
  all: number
  /** Without the access log. */
  rows: number
}

/** @returns how many rows were written, without the access log */
async function write(terminal: Terminal, output: NodeJS.WritableStream, allowEmpty: boolean): Promise<number> {
  const written = { all: 0, rows: 0 }
  const ended = new AbortController()
  const end = (signal: string) =>
    ended.abort(new OperatorError(`The backup was ended by ${signal}: the file is not complete.`))
  for (const signal of SIGNALS) process.once(signal, end)
  try {
    const work = async (db: Db, database: Database) => {
      await terminal.recordAccess(db, 'everything')
      await withSnapshot(database, { isEmbedded: !terminal.env().DATABASE_URL }, async (snapshot) => {
        const pieces = Readable.from(toPieces(snapshot, written, allowEmpty))
        await pipeline(pieces, createGzip(), output, { signal: ended.signal })
      })
    }
    await terminal.onDatabase(work, { anyVersion: true })
  } catch (error) {
    if (ended.signal.aborted) throw ended.signal.reason
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    throw new OperatorError('The backup was not read to its end: what was read is not complete.', { cause: error })
  } finally {
    for (const signal of SIGNALS) process.off(signal, end)
  }
  return written.rows
}

/** Lines, in pieces to compress; the last line has the checksum of all others. */
async function* toPieces({ migrations, tables, rows }: Snapshot, written: Written, allowEmpty: boolean) {
  const checksum = createHash('sha256')
  let piece = ''
  function add(lines: string[]) {
    const text = lines.map((line) => `${line}\n`).join('')
    checksum.update(text)
    piece += text
  }
  add([formatMark({ format: FORMAT, version: FORMAT_VERSION, madeAt: new Date().toISOString(), migrations })])
  for (const table of tables) {
    add([formatMark({ table: table.name, columns: table.columns })])
    for await (const lines of rows(table)) {
      add(lines)
      written.all += lines.length
      if (table.name !== ACCESS_LOG) written.rows += lines.length
      if (written.rows === 0 && piece.length < HELD_BACK_MAX) continue // nothing is written of a database without rows
      yield piece
      piece = ''
    }
  }
  if (written.rows === 0 && !allowEmpty) throw new OperatorError(EMPTY)
  yield `${piece}${formatMark({ end: true, rows: written.all, sha256: checksum.digest('hex') })}\n`
}
