import { createHash } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type Snapshot, withSnapshot } from '../database/snapshot.ts'
import { OperatorError } from '../errors.ts'
import { count } from '../words.ts'
import { FORMAT, FORMAT_VERSION, markLine } from './backup-format.ts'
import { type Command, parse, UsageError } from './command.ts'

/** Lines are packed in pieces of about this size: a piece a line would cost more than packing it. */
const PIECE_CHARACTERS = 64 * 1024

export const backupCommand: Command = {
  login: "the tables' owner",
  summary: 'write everything into one file, while the site runs',
  help: `Usage: npm run -s staff -- backup FILE
       npm run -s staff -- backup - > FILE

Writes the enquiries, their mails with what became of them, and the subscriptions, as they are at one moment, into one
compressed file with a checksum. FILE must not exist yet, and only this user can read it; - is standard output.
The site may run meanwhile. "restore FILE" fills an empty database from it. It holds people's data: keep it safe, and
not longer than the enquiries themselves.`,
  async run(args, env) {
    const [file, ...rest] = parse(args, {}, { positionals: true }).positionals
    if (!file || rest.length > 0) throw new UsageError('Name one file, or - for standard output')
    if (file === '-') return report(await write(env(), process.stdout), 'standard output')
    const output = await create(file)
    try {
      const rows = await write(env(), output.createWriteStream({ flush: true }))
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

async function write(env: Parameters<typeof withSnapshot>[0], output: NodeJS.WritableStream): Promise<number> {
  const written = { rows: 0 }
  await withSnapshot(env, (snapshot) => pipeline(Readable.from(toPieces(snapshot, written)), createGzip(), output))
  return written.rows
}

/** With the checksum of it all as the last line. */
async function* toPieces(snapshot: Snapshot, written: { rows: number }): AsyncGenerator<string> {
  const checksum = createHash('sha256')
  let piece = ''
  for await (const line of toLines(snapshot, written)) {
    piece += `${line}\n`
    if (piece.length < PIECE_CHARACTERS) continue
    checksum.update(piece)
    yield piece
    piece = ''
  }
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
