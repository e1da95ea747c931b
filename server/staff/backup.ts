import { createHash } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { withDatabase } from '../database/open-database.ts'
import { type Snapshot, withSnapshot } from '../database/snapshot.ts'
import type { Env } from '../env.ts'
import { OperatorError } from '../errors.ts'
import { count } from '../words.ts'
import { FORMAT, FORMAT_VERSION, markLine } from './backup-format.ts'
import { type Command, parse, UsageError } from './command.ts'

/** Lines are packed in pieces of about this size: a piece a line would cost more than packing it. */
const PIECE_CHARACTERS = 64 * 1024

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const NOTHING =
  'There is nothing to back up: the database holds no rows. Is it the one of the site? DATA_DIR or DATABASE_URL says which it is. --allow-empty writes a backup of nothing.'

export const backupCommand: Command = {
  login: "the tables' owner",
  summary: 'write everything into one file, while the site runs',
  help: `Usage: npm run -s staff -- backup FILE [--allow-empty]
       npm run -s staff -- backup - [--allow-empty] > FILE

Writes the enquiries, their mails with what became of them, and the subscriptions, as they are at one moment, into one
compressed file with a checksum. FILE must not exist yet, and only this user can read it; - is standard output.
A database without rows is refused, unless --allow-empty says that it may be.
The site may run meanwhile. "restore FILE" fills an empty database from it. It holds people's data: keep it safe, and
not longer than the enquiries themselves.`,
  async run(args, env) {
    const { values, positionals } = parse(args, { 'allow-empty': { type: 'boolean' } }, { positionals: true })
    const [file, ...rest] = positionals
    if (!file || rest.length > 0) throw new UsageError('Name one file, or - for standard output')
    if (file === '-' && process.stdout.isTTY)
      throw new UsageError('A backup is not for a terminal: say where to, > FILE')
    const allowEmpty = values['allow-empty'] ?? false
    if (file === '-') return report(await write(env(), process.stdout, allowEmpty), 'standard output')
    const output = await create(file)
    try {
      const rows = await write(env(), output.createWriteStream({ flush: true }), allowEmpty)
      report(rows, file)
    } catch (error) {
      await unlink(file)
      throw error
    }
  },
}

async function create(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600)
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const reason = exists ? 'it exists already' : (error as Error).message
    throw new OperatorError(`The backup cannot be written to ${resolve(file)}: ${reason}.`, { cause: error })
  }
}

/** Writes all of it, or throws. */
async function write(env: Env, output: NodeJS.WritableStream, allowEmpty: boolean): Promise<number> {
  const written = { rows: 0 }
  const ended = new AbortController()
  for (const signal of SIGNALS) {
    process.once(signal, () => ended.abort(new OperatorError(`The backup was ended by ${signal}: it is not whole.`)))
  }
  try {
    await withDatabase({ ...env, anyVersion: true }, ({ db }) =>
      withSnapshot(db, env.DATABASE_URL === undefined, async (snapshot) => {
        const pieces = Readable.from(toPieces(snapshot, written, allowEmpty))
        await pipeline(pieces, createGzip(), output, { signal: ended.signal })
      }),
    )
  } catch (error) {
    if (ended.signal.aborted) throw ended.signal.reason
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    throw new OperatorError('The backup was not read to its end: what was read of it is not whole.', { cause: error })
  }
  return written.rows
}

/** With the checksum of it all as the last line. */
async function* toPieces(snapshot: Snapshot, written: { rows: number }, allowEmpty: boolean): AsyncGenerator<string> {
  const checksum = createHash('sha256')
  let piece = ''
  for await (const line of toLines(snapshot, written)) {
    piece += `${line}\n`
    if (piece.length < PIECE_CHARACTERS) continue
    checksum.update(piece)
    yield piece
    piece = ''
  }
  if (written.rows === 0 && !allowEmpty) throw new OperatorError(NOTHING)
  checksum.update(piece)
  yield `${piece}${markLine({ end: true, rows: written.rows, sha256: checksum.digest('hex') })}\n`
}

async function* toLines({ migrations, tables, rows }: Snapshot, written: { rows: number }): AsyncGenerator<string> {
  yield markLine({ format: FORMAT, version: FORMAT_VERSION, madeAt: new Date().toISOString(), migrations })
  for (const table of tables) {
    yield markLine({ table: table.name, columns: table.columns })
    for await (const row of rows(table)) {
      yield row
      written.rows++
    }
  }
}

function report(rows: number, file: string) {
  console.error(`Wrote ${count(rows, 'row', 'rows')} to ${file}.`)
}
