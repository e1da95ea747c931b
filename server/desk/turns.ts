import { RequestError } from '../http/errors.ts'
import type { Session } from './sessions.ts'

/** A search reads all enquiries: a session has one at a time. One that nobody waits for any more, as its text was typed on, is not begun. */
export function createTurns() {
  /** By session: the last that has begun or waits. */
  const last = new Map<string, Promise<unknown>>()
  return function inTurn<T>({ hash }: Session, read: () => Promise<T>, isGone = () => false): Promise<T> {
    async function begin() {
      if (isGone()) throw new RequestError(408)
      return read()
    }
    const own = Promise.resolve(last.get(hash)).then(begin, begin)
    last.set(hash, own)
    return own.finally(() => {
      if (last.get(hash) === own) last.delete(hash)
    })
  }
}
