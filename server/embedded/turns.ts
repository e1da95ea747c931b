import { setImmediate as nextEvents } from 'node:timers/promises'

/** PostgreSQL executes synchronously, so after so long there may be much to read. */
const LONG_MS = 20

export type Turns = ReturnType<typeof createTurns>

/**
 * Gives the one session to one client after the other, in the order in which they ask.
 * @param setUnlimited told whether the statements of the turn may take as long as they take
 */
export function createTurns(setUnlimited: (isUnlimited: boolean) => void) {
  let last: Promise<unknown> = Promise.resolve()

  async function run<T>(work: () => Promise<T> | T): Promise<T> {
    const start = performance.now()
    try {
      return await work()
    } finally {
      setUnlimited(false)
      // Lets pending socket events run, so that clients that have gone are noticed: they come between the two waits.
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
    /** Lifts the limit of the turn that is under way. */
    allowLongStatements: () => setUnlimited(true),
  }
}
