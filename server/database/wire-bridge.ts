// Speaks PostgreSQL's wire protocol, so that Studio, psql and the staff command reach the database that lives in this
// process. It has one session only, and that is the site's: a client has it for a turn, from its first message until
// no transaction is open. A turn begins as the role CLIENT, which may what the tables' owner may and nothing that
// concerns the database as a whole, and ends with all undone that a session remembers.
import { once } from 'node:events'
import { createServer, type ListenOptions, type Socket } from 'node:net'
import type { EmbeddedPostgres } from './embedded-postgres.ts'

/** How long a client that has the session may do nothing with it: at a time, and in all of its turn. */
const PAUSE_MAX_MS = 10_000
const PAUSES_MAX_MS = 30_000

/** No client sends as much: what is longer comes from something that does not speak this protocol, or not in good faith. */
const STARTUP_MAX_BYTES = 10_000
const UNANSWERED_MAX_BYTES = 8 * 2 ** 20

/** What clients send: all other messages end the session of whoever sends them, and here that is everybody's. */
const message = {
  ...{ query: 0x51, parse: 0x50, bind: 0x42, describe: 0x44, execute: 0x45, close: 0x43, sync: 0x53, flush: 0x48 },
  ...{ call: 0x46, copyData: 0x64, copyDone: 0x63, copyFail: 0x66, terminate: 0x58 },
}
const KINDS = new Set<number | undefined>(Object.values(message))
/** A startup message begins with a zero, which is a part of its length. */
const CALLS_FOR_ANSWER = new Set<number | undefined>([0, message.query, message.sync, message.flush, message.call])
const request = { ssl: 80877103, gss: 80877104, cancel: 80877102 }
const answer = { ready: 0x5a, idle: 0x49 }

const CLIENT = 'quvera_staff'
const MAKE_CLIENT = `CREATE ROLE ${CLIENT} LOGIN; GRANT postgres TO ${CLIENT} WITH INHERIT TRUE, SET FALSE; GRANT pg_checkpoint TO ${CLIENT}`
const SYNC = frame('S')
const BEGIN_TURN = query(`SET SESSION AUTHORIZATION ${CLIENT}`)
const END_TRANSACTION = Buffer.concat([SYNC, query('ROLLBACK')])
const END_TURN = Buffer.concat([
  query('SET SESSION AUTHORIZATION postgres'), // RESET does nothing in PGlite
  query('CLOSE ALL; RESET ALL; DEALLOCATE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP'),
])

/** Makes the role that clients work as. */
export async function admitClients(lite: EmbeddedPostgres): Promise<void> {
  const { rows } = await lite.query('SELECT FROM pg_roles WHERE rolname = $1', [CLIENT])
  if (rows.length === 0) await lite.exec(MAKE_CLIENT)
}

/**
 * Serves `lite` to all who connect there. Returns what lets nobody in any more, and sends away who has not gone by itself
 * after `leaveMs`.
 */
export async function serveClients(
  lite: EmbeddedPostgres,
  where: ListenOptions,
  leaveMs = 0,
): Promise<() => Promise<void>> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    serveClient(lite, socket).catch(() => socket.destroy())
  })
  await once(server.listen(where), 'listening')
  server.on('error', () => {}) // who cannot be let in, as when files are short, comes again
  return async () => {
    const closed = new Promise((done) => server.close(done)) // once all have gone
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, leaveMs)
    await closed
    clearTimeout(timer)
  }
}

async function serveClient(lite: EmbeddedPostgres, socket: Socket) {
  const frames = readFrames(socket)
  for (let first = await nextBatch(frames); first; first = await nextBatch(frames)) {
    const batch = first
    await lite.takeTurn(() => serveTurn(lite, socket, frames, batch))
    if (socket.destroyed) return
  }
  socket.end()
}

type Frames = AsyncGenerator<Buffer, undefined>

async function serveTurn(lite: EmbeddedPostgres, socket: Socket, frames: Frames, first: Buffer[]) {
  const execute = (bytes: Uint8Array) => lite.runExclusive(() => lite.execProtocolRaw(bytes))
  let isIdle = false
  let isRefused = false // what follows up to the next Sync is passed over
  let pausesLeftMs = PAUSES_MAX_MS
  await execute(BEGIN_TURN)
  try {
    for (let batch: Buffer[] | undefined = first; batch; batch = await pause()) {
      for (const input of batch) {
        if (isRefused && input[0] !== message.sync) continue
        isRefused = false
        const output = await run(input).catch((error: Refusal) => refuse(input, error))
        if (output.length > 0) socket.write(output)
        isIdle = output.at(-6) === answer.ready && output.at(-1) === answer.idle
      }
      if (isIdle) return
    }
    socket.destroy()
  } finally {
    if (!isIdle) await execute(END_TRANSACTION)
    await execute(END_TURN)
  }

  /** Until the client says more; bytes that are no whole message count for nothing. */
  async function pause(): Promise<Buffer[] | undefined> {
    const since = performance.now()
    const timer = setTimeout(() => socket.destroy(), Math.min(PAUSE_MAX_MS, pausesLeftMs))
    const batch = await nextBatch(frames).catch(() => undefined)
    clearTimeout(timer)
    pausesLeftMs -= performance.now() - since
    return batch
  }

  async function refuse(input: Buffer, error: Refusal): Promise<Buffer> {
    if (!error.code) throw error
    isRefused = input[0] !== message.query
    return Buffer.concat([errorFrame('ERROR', error), ...(isRefused ? [] : [await execute(SYNC)])])
  }

  async function run(input: Buffer): Promise<Uint8Array> {
    if (input[0] === message.query || input[0] === message.parse) refuseForeign(input.toString('latin1', 5))
    return execute(input)
  }
}

/** @throws Refusal of what only PostgreSQL's own server can do, or what would take a client out of its role */
function refuseForeign(statement: string) {
  if (/\bsession(_|\b[^;]*\b)authorization\b/i.test(statement)) {
    throw new Refusal('42501', `a client of the embedded database works as ${CLIENT}`)
  }
  if (/\bcopy\b[^;]*\bfrom\s+stdin\b/i.test(statement)) {
    throw new Refusal('0A000', 'the embedded database takes no rows by COPY FROM STDIN: use INSERT')
  }
}

class Refusal extends Error {
  code: string
  constructor(code: string, text: string) {
    super(text)
    this.code = code
  }
}

/** The client's messages up to one that calls for an answer; undefined when it has gone. */
async function nextBatch(frames: Frames): Promise<Buffer[] | undefined> {
  const batch: Buffer[] = []
  for (let size = 0; size <= UNANSWERED_MAX_BYTES; ) {
    const { value } = await frames.next()
    if (!value || value[0] === message.terminate) return undefined
    size += value.length
    batch.push(value)
    if (CALLS_FOR_ANSWER.has(value[0])) return batch
  }
  throw new Error('A client of the embedded database sends without asking for an answer')
}

/** Cuts the stream into messages: the startup packet begins with its length, all others with a byte for their kind. */
async function* readFrames(socket: Socket): Frames {
  let buffer = Buffer.alloc(0)
  let started = false
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    buffer = Buffer.concat([buffer, chunk])
    for (;;) {
      const head = started ? 1 : 0
      if (buffer.length < head + 4) break
      const length = buffer.readInt32BE(head)
      if (started ? length < 4 || length > UNANSWERED_MAX_BYTES : length < 8 || length > STARTUP_MAX_BYTES)
        return endWith(socket, `invalid message length ${length}`)
      if (started && !KINDS.has(buffer[0])) return endWith(socket, 'a message of an unknown kind')
      const size = head + length
      if (buffer.length < size) break
      const input = buffer.subarray(0, size)
      buffer = buffer.subarray(size)
      if (!started) {
        const code = input.readInt32BE(4)
        if (code === request.cancel) return
        if (code === request.ssl || code === request.gss) {
          socket.write('N')
          continue
        }
        started = true
      }
      yield input
    }
  }
}

/** Ends the connection with a message that PostgreSQL's clients show. */
function endWith(socket: Socket, words: string): undefined {
  socket.end(errorFrame('FATAL', new Refusal('08P01', words)))
}

function errorFrame(severity: string, { code, message }: Refusal): Buffer {
  return frame('E', `S${severity}\0V${severity}\0C${code}\0M${message}\0\0`)
}

function query(sql: string): Buffer {
  return frame('Q', `${sql}\0`)
}

function frame(kind: string, body = ''): Buffer {
  const bytes = Buffer.from(body)
  const head = Buffer.from(`${kind}\0\0\0\0`)
  head.writeInt32BE(bytes.length + 4, 1)
  return Buffer.concat([head, bytes])
}
