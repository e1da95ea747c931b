// PostgreSQL has one session here. Clients get it in turns.
import { setImmediate as nextEvents } from 'node:timers/promises'

/** PostgreSQL executes synchronously: after so long, socket events wait. */
const LONG_MS = 20

export type Turns = ReturnType<typeof createTurns>

/**
 * Gives the session to one client after the other, in the order in which they ask.
 * @param setUnlimited called when statements may take as long as they take, and when they may not any more
 */
export function createTurns(setUnlimited: (isUnlimited: boolean) => void) {
  let last: Promise<unknown> = Promise.resolve()
  let isUnlimited = false

  function setUnlimitedIfChanged(next: boolean) {
    if (next !== isUnlimited) setUnlimited(next)
    isUnlimited = next
  }

  async function run<T>(work: () => Promise<T> | T): Promise<T> {
    const start = performance.now()
    try {
      return await work()
    } finally {
      setUnlimitedIfChanged(false)
      // It takes two rounds of the event loop to learn which sockets were closed.
      if (performance.now() - start > LONG_MS) {
        await nextEvents()
        await nextEvents()
      }
    }
  }

  return {
    take<T>(work: () => Promise<T> | T): Promise<T> {
      const result = last.then(() => run(work))
      last = result.catch(() => {})
      return result
    },
    /** For the rest of the current turn. */
    allowLongStatements: () => setUnlimitedIfChanged(true),
  }
}
