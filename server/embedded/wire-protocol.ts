import type { Socket } from 'node:net'

/** https://www.postgresql.org/docs/current/protocol-message-formats.html */

const STARTUP_MAX_BYTES = 10_000
/** Of one message, and of all that a client sends before it asks for an answer. */
const UNANSWERED_MAX_BYTES = 8 * 2 ** 20

/** Kinds of messages that a client may send. Any other kind would end the session, which all clients share. */
export const kind = {
  ...{ query: 0x51, parse: 0x50, bind: 0x42, describe: 0x44, execute: 0x45, close: 0x43, sync: 0x53, flush: 0x48 },
  ...{ call: 0x46, copyData: 0x64, copyDone: 0x63, copyFail: 0x66, terminate: 0x58 },
}
const KINDS = new Set<number | undefined>(Object.values(kind))
const ASKS_FOR_ANSWER = new Set<number | undefined>([kind.query, kind.sync, kind.flush, kind.call])
/** Codes that stand in the place of a protocol version. */
const startup = { ssl: 80877103, gss: 80877104, cancel: 80877102 }

export const SYNC = frame('S')

/** An answer that this server gives in the place of PostgreSQL. */
export class Refusal extends Error {
  readonly code: string
  constructor(code: string, text: string) {
    super(text)
    this.code = code
  }
}

/** The messages of a client up to one that asks for an answer. */
export type Batch = Buffer[]

/** Reads what a client sends also while its last batch waits, so that it is known when the client has gone. */
export interface ClientReader {
  /** The parameters of its startup message, such as `user`. */
  readonly parameters: Map<string, string>
  /** Whether the client has ended the connection. What it has sent and was not executed yet is dropped. */
  readonly isGone: boolean
  /** The next batch; undefined when the client has gone. */
  next(): Promise<Batch | undefined>
}

/** Resolves once the client has sent its startup message; undefined when it has gone, or was refused. */
export function readClient(socket: Socket): Promise<ClientReader | undefined> {
  const batches: Batch[] = []
  const parameters = new Map<string, string>()
  let unread: Buffer = Buffer.alloc(0)
  let batch: Batch = []
  let batchBytes = 0
  let isStarted = false
  let isGone = false
  let wake: (() => void) | undefined
  let started: (reader: ClientReader | undefined) => void

  const reader: ClientReader = {
    parameters,
    get isGone() {
      return isGone
    },
    async next() {
      while (batches.length === 0 && !isGone) await new Promise<void>((done) => (wake = done))
      if (isGone) return undefined
      if (batches.length === 1) socket.resume()
      return batches.shift()
    },
  }

  function leave() {
    isGone = true
    started(undefined)
    wake?.()
  }

  /** Ends the connection with a message that PostgreSQL's clients show. */
  function refuse(text: string) {
    socket.end(errorFrame('FATAL', new Refusal('08P01', text)))
    leave()
  }

  function readStartup(message: Buffer) {
    const code = message.readInt32BE(4)
    if (code === startup.ssl || code === startup.gss) return void socket.write('N')
    if (code === startup.cancel) return void socket.end()
    isStarted = true
    const [...texts] = message.toString('utf8', 8).split('\0')
    for (let index = 0; texts[index]; index += 2) parameters.set(texts[index] ?? '', texts[index + 1] ?? '')
    started(reader)
  }

  function readMessage(message: Buffer) {
    if (message[0] === kind.terminate) return leave()
    batch.push(message)
    batchBytes += message.length
    if (!ASKS_FOR_ANSWER.has(message[0])) {
      if (batchBytes > UNANSWERED_MAX_BYTES) refuse('too much was sent without asking for an answer')
      return
    }
    batches.push(batch)
    batch = []
    batchBytes = 0
    if (batches.length > 1) socket.pause() // a client that does not wait for its answers
    wake?.()
  }

  function read(chunk: Buffer) {
    unread = unread.length > 0 ? Buffer.concat([unread, chunk]) : chunk
    while (!isGone) {
      const head = isStarted ? 1 : 0
      if (unread.length < head + 4) return
      const length = unread.readInt32BE(head)
      if (isStarted ? length < 4 || length > UNANSWERED_MAX_BYTES : length < 8 || length > STARTUP_MAX_BYTES)
        return refuse(`invalid message length ${length}`)
      if (isStarted && !KINDS.has(unread[0])) return refuse('a message of an unknown kind')
      if (unread.length < head + length) return
      const message = unread.subarray(0, head + length)
      unread = unread.subarray(head + length)
      if (isStarted) readMessage(message)
      else readStartup(message)
    }
  }

  return new Promise((done) => {
    started = done
    socket.on('data', read).once('end', leave).once('close', leave)
  })
}

/** Whether an answer ends with ReadyForQuery outside of a transaction. */
export function isIdle(end: Buffer): boolean {
  return end.at(-6) === 0x5a && end.at(-1) === 0x49
}

/** The first column of all rows of an answer, as text. */
export function firstColumn(answer: Buffer): string[] {
  return messagesOf(answer, 'D').map((body) => body.toString('utf8', 6, 6 + body.readInt32BE(2)))
}

/** The text of the first error in an answer. */
export function firstError(answer: Buffer): string | undefined {
  const [body] = messagesOf(answer, 'E')
  return body && (/\0M([^\0]*)/.exec(body.toString())?.[1] ?? 'unknown')
}

/** The bodies of all messages of a kind. */
function messagesOf(answer: Buffer, kind: string): Buffer[] {
  const bodies: Buffer[] = []
  for (let at = 0; at < answer.length; ) {
    const end = at + 1 + answer.readInt32BE(at + 1)
    if (answer[at] === kind.charCodeAt(0)) bodies.push(answer.subarray(at + 5, end))
    at = end
  }
  return bodies
}

export function errorFrame(severity: string, { code, message }: Refusal): Buffer {
  return frame('E', `S${severity}\0V${severity}\0C${code}\0M${message}\0\0`)
}

export function queryFrame(sql: string): Buffer {
  return frame('Q', `${sql}\0`)
}

export function startupFrame(): Buffer {
  const body = Buffer.from('\0\0\0\0\0\x03\0\0user\0postgres\0database\0postgres\0\0')
  body.writeInt32BE(body.length)
  return body
}

function frame(kind: string, body = ''): Buffer {
  const bytes = Buffer.from(body)
  const head = Buffer.from(`${kind}\0\0\0\0`)
  head.writeInt32BE(bytes.length + 4, 1)
  return Buffer.concat([head, bytes])
}
