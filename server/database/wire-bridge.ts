import type { Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PGlite } from '@electric-sql/pglite'

/** How long a client may keep a transaction open without a word; the site waits that long for it. */
const IDLE_IN_TRANSACTION_MS = 10_000

/** No client sends as much: what is longer comes from something that does not speak this protocol, or not in good faith. */
const STARTUP_MAX_BYTES = 10_000
const BATCH_MAX_BYTES = 8 * 2 ** 20

const message = { query: 0x51, parse: 0x50, sync: 0x53, flush: 0x48, terminate: 0x58, readyForQuery: 0x5a }
const request = { ssl: 80877103, gss: 80877104, cancel: 80877102 }
const IDLE = 0x49
const ROLLBACK = Buffer.from('Q\0\0\0\rROLLBACK\0', 'latin1')

/**
 * Speaks PostgreSQL's wire protocol on `server`, so that Studio, psql and the staff command reach the database that
 * lives in this process. It has one session only: a client has it to itself from its first message until the
 * database reports that no transaction is open, so that nobody's work lands in somebody else's transaction.
 */
export function serveDatabase(server: Server, database: Promise<PGlite>): void {
  server.on('connection', (socket) => {
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    database.then((lite) => serveClient(lite, socket)).catch(() => socket.destroy())
  })
}

async function serveClient(lite: PGlite, socket: Socket) {
  const frames = readFrames(socket)
  let batch = await nextBatch(frames)
  while (batch) {
    await lite._runExclusiveTransaction(() => serveTransaction(lite, socket, frames, batch))
    if (socket.destroyed) return
    batch = await nextBatch(frames)
  }
  socket.end()
}

async function serveTransaction(
  lite: PGlite,
  socket: Socket,
  frames: AsyncGenerator<Buffer>,
  first: Uint8Array | undefined,
) {
  let batch = first
  while (batch) {
    const input = batch
    const answer = await lite.runExclusive(() => lite.execProtocolRaw(input))
    socket.write(answer)
    if (isIdle(answer)) return
    const silence = sleep(IDLE_IN_TRANSACTION_MS, undefined, { ref: false })
    batch = await Promise.race([nextBatch(frames), silence]).catch(() => undefined)
  }
  await lite.runExclusive(() => lite.execProtocolRaw(ROLLBACK))
  socket.destroy()
}

/** Whether the answer ends in ReadyForQuery with no transaction open. */
function isIdle(answer: Uint8Array) {
  return answer.at(-6) === message.readyForQuery && answer.at(-1) === IDLE
}

/** The client's messages up to one that calls for an answer; undefined when it has gone. */
async function nextBatch(frames: AsyncGenerator<Buffer>): Promise<Uint8Array | undefined> {
  const parts: Buffer[] = []
  let size = 0
  for (;;) {
    const { value, done } = await frames.next()
    if (done || value[0] === message.terminate) return undefined
    parts.push(value)
    size += value.length
    if (size > BATCH_MAX_BYTES) throw new Error('A client of the embedded database sends without asking for an answer')
    const isStartup = value[0] === 0
    if (isStartup || value[0] === message.query || value[0] === message.sync || value[0] === message.flush) {
      return Buffer.concat(parts)
    }
  }
}

/** Cuts the stream into messages: the startup packet begins with its length, all others with a type byte. */
async function* readFrames(socket: Socket): AsyncGenerator<Buffer> {
  let buffer = Buffer.alloc(0)
  let started = false
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    buffer = Buffer.concat([buffer, chunk])
    for (;;) {
      const head = started ? 1 : 0
      if (buffer.length < head + 4) break
      const length = buffer.readInt32BE(head)
      if (started ? length < 4 || length > BATCH_MAX_BYTES : length < 8 || length > STARTUP_MAX_BYTES)
        return refuse(socket, '08P01', `invalid message length ${length}`)
      const size = head + length
      if (buffer.length < size) break
      const frame = buffer.subarray(0, size)
      buffer = buffer.subarray(size)
      if (!started) {
        const code = frame.readInt32BE(4)
        if (code === request.cancel) return
        if (code === request.ssl || code === request.gss) {
          socket.write('N')
          continue
        }
        started = true
      } else if (runsProgram(frame)) {
        return refuse(socket, '0A000', 'COPY cannot run a program here: it would hold up the site')
      }
      yield frame
    }
  }
}

/** Whether a statement may be `COPY … PROGRAM`, with whatever stands between the words. */
function runsProgram(frame: Buffer): boolean {
  if (frame[0] !== message.query && frame[0] !== message.parse) return false
  const text = frame.toString('latin1')
  return /\bcopy\b/i.test(text) && /\bprogram\b/i.test(text)
}

/** Ends the connection with a message that PostgreSQL's clients show. */
function refuse(socket: Socket, code: string, text: string) {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`)
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(fields.length + 4, 1)
  socket.end(Buffer.concat([head, fields]))
}
