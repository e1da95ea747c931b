import type { Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PGlite } from '@electric-sql/pglite'

/** How long a client may keep a transaction open without a word; the site waits that long for it. */
const IDLE_IN_TRANSACTION_MS = 10_000

const message = { query: 0x51, sync: 0x53, flush: 0x48, terminate: 0x58, readyForQuery: 0x5a }
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
  for (;;) {
    const { value, done } = await frames.next()
    if (done || value[0] === message.terminate) return undefined
    parts.push(value)
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
      const size = head + buffer.readInt32BE(head)
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
      }
      yield frame
    }
  }
}
