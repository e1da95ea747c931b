// Prepares each statement of the site once, as poolers do: parsing and planning take half of an order's time.
import { serialize } from './postgres.ts'
import { type Batch, messageType } from './wire-protocol.ts'

const STATEMENTS_MAX = 200
/** A plan that was made for a small table becomes slow when the table grows. */
const PLAN_LIFETIME_MS = 60_000
const DEALLOCATE_ALL = serialize.query('DEALLOCATE ALL')
const PARSE_COMPLETE = Buffer.from([0x31, 0, 0, 0, 4])
/** Where the name of the statement is in a message. Bind has the empty name of its portal before it. */
const nameOffset = { parse: 5, bind: 6 }

export function createPreparedStatements(send: (messages: Uint8Array) => Buffer, isInTransaction: () => boolean) {
  const names = new Map<string, string>()
  let count = 0
  let since = performance.now()

  return {
    /** Gives a statement without a name one, so that the session keeps its plan. */
    execute(batch: Batch): Buffer {
      if (performance.now() - since > PLAN_LIFETIME_MS && !isInTransaction()) {
        since = performance.now()
        names.clear()
        send(DEALLOCATE_ALL)
      }
      const [parse, bind, ...others] = batch
      const text = parse?.toString('latin1', nameOffset.parse) ?? ''
      const known = names.get(text)
      if (!parse || !bind || !isUnnamed(parse, bind) || (!known && names.size === STATEMENTS_MAX))
        return send(Buffer.concat(batch))
      const name = known ?? `site_${count++}`
      const messages = [withName(bind, nameOffset.bind, name), ...others]
      if (known) return Buffer.concat([PARSE_COMPLETE, send(Buffer.concat(messages))])
      const answer = send(Buffer.concat([withName(parse, nameOffset.parse, name), ...messages]))
      if (answer[0] === PARSE_COMPLETE[0]) names.set(text, name)
      return answer
    },
    /** Call it before the session drops its prepared statements. */
    forget: () => names.clear(),
  }
}

function isUnnamed(parse: Buffer, bind: Buffer): boolean {
  if (parse[0] !== messageType.parse || bind[0] !== messageType.bind) return false
  return parse[nameOffset.parse] === 0 && bind[nameOffset.bind - 1] === 0 && bind[nameOffset.bind] === 0
}

function withName(message: Buffer, at: number, name: string): Buffer {
  const named = Buffer.concat([message.subarray(0, at), Buffer.from(name), message.subarray(at)])
  named.writeInt32BE(named.length - 1, 1)
  return named
}
