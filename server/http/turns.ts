import { RequestError } from './errors.ts'

/** Work of one key runs one after the other, without a connection of the pool while it waits. */
export function createTurns() {
  /** By key: the last that has begun or waits. */
  const last = new Map<string, Promise<unknown>>()
  /** @param isGone whether nobody waits for it any more: then it is not begun, and refused by 408 */
  return function inTurn<T>(key: string, work: () => Promise<T>, isGone = () => false): Promise<T> {
    async function begin() {
      if (isGone()) throw new RequestError(408)
      return work()
    }
    const own = Promise.resolve(last.get(key)).then(begin, begin)
    last.set(key, own)
    return own.finally(() => {
      if (last.get(key) === own) last.delete(key)
    })
  }
}
