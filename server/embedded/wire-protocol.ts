// Reads the messages that clients send, and writes the errors that this server itself sends:
// https://www.postgresql.org/docs/current/protocol-message-formats.html
import type { Socket } from 'node:net'

const STARTUP_MAX_BYTES = 10_000
/** Of one message, and of all that a client sends before it asks for an answer. */
const UNANSWERED_MAX_BYTES = 8 * 2 ** 20

/** First bytes of messages. A message with any other one would end the session that all clients share. */
export const messageType = {
  ...{ query: 0x51, parse: 0x50, bind: 0x42, describe: 0x44, execute: 0x45, close: 0x43, sync: 0x53, flush: 0x48 },
  ...{ call: 0x46, copyData: 0x64, copyDone: 0x63, copyFail: 0x66, terminate: 0x58 },
}
const MESSAGE_TYPES = new Set<number | undefined>(Object.values(messageType))
const ASKS_FOR_ANSWER = new Set<number | undefined>([
  messageType.query,
  messageType.sync,
  messageType.flush,
  messageType.call,
])
/** Sent in the place of a protocol version. */
const requestCode = { ssl: 80877103, gss: 80877104, cancel: 80877102 }

/** An error of this server, with a PostgreSQL error code. */
export class Refusal extends Error {
  readonly code: string
  constructor(code: string, text: string) {
    super(text)
    this.code = code
  }
}

/** The messages of a client up to the first one that asks for an answer. */
export type Batch = Buffer[]

/** False for Flush only. */
export function isAnsweredWithReady(batch: Batch): boolean {
  return batch.at(-1)?.[0] !== messageType.flush
}

/**
 * Reads what a client sends, until it ends. What is not PostgreSQL's protocol ends the connection.
 * @param onStartup called first, with the user name of the client's startup message
 */
export async function* readBatches(socket: Socket, onStartup: (user: string) => void): AsyncGenerator<Batch, void> {
  let unread: Buffer = Buffer.alloc(0)
  let isStarted = false
  let batch: Batch = []
  let batchBytes = 0

  function refuse(text: string): never {
    socket.end(errorResponse('FATAL', new Refusal('08P01', text)))
    throw new Error(text)
  }

  /** The next message; undefined until all of it has arrived. */
  function nextMessage(): Buffer | undefined {
    const lengthAt = isStarted ? 1 : 0 // a startup message has no type
    if (unread.length < lengthAt + 4) return undefined
    const length = unread.readInt32BE(lengthAt)
    const [min, max] = isStarted ? [4, UNANSWERED_MAX_BYTES] : [8, STARTUP_MAX_BYTES]
    if (length < min || length > max) refuse(`invalid message length ${length}`)
    if (isStarted && !MESSAGE_TYPES.has(unread[0])) refuse('a message of an unknown type')
    if (unread.length < lengthAt + length) return undefined
    const message = unread.subarray(0, lengthAt + length)
    unread = unread.subarray(lengthAt + length)
    return message
  }

  for await (const chunk of socket) {
    unread = unread.length > 0 ? Buffer.concat([unread, chunk]) : chunk
    for (let message = nextMessage(); message; message = nextMessage()) {
      if (!isStarted) {
        const code = message.readInt32BE(4)
        isStarted = code !== requestCode.ssl && code !== requestCode.gss
        if (code === requestCode.cancel) return
        if (isStarted) onStartup(userOf(message))
        else socket.write('N') // encryption is not offered: the client goes on without
        continue
      }
      if (message[0] === messageType.terminate) return
      batch.push(message)
      batchBytes += message.length
      if (ASKS_FOR_ANSWER.has(message[0])) {
        yield batch
        batch = []
        batchBytes = 0
      } else if (batchBytes > UNANSWERED_MAX_BYTES) {
        refuse('too much was sent without asking for an answer')
      }
    }
  }
}

function userOf(startup: Buffer): string {
  const texts = startup.toString('utf8', 8).split('\0') // names and values in turn
  return texts[texts.findIndex((text, index) => index % 2 === 0 && text === 'user') + 1] ?? ''
}

export function errorResponse(severity: 'ERROR' | 'FATAL', { code, message }: Refusal): Buffer {
  const body = Buffer.from(`S${severity}\0V${severity}\0C${code}\0M${message}\0\0`)
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
