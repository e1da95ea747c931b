// PostgreSQL has one session here: clients take turns.
import { setImmediate as nextEvents } from 'node:timers/promises'

/** After a turn longer than this, socket events are waiting, because PostgreSQL executes synchronously. */
const LONG_MS = 20
/** Timers fire late after a long turn: a turn that begins within this time is still taken. */
const GRACE_MS = 50

export type Turns = ReturnType<typeof createTurns>

/** @param onTimeLimit called when the time limit of statements changes; it is on when a turn begins */
export function createTurns(onTimeLimit: (isOn: boolean) => void) {
  let last: Promise<unknown> = Promise.resolve()
  let hasTimeLimit = true

  function setTimeLimit(isOn: boolean) {
    if (isOn !== hasTimeLimit) onTimeLimit(isOn)
    hasTimeLimit = isOn
  }

  async function run<T>(work: () => Promise<T> | T): Promise<T> {
    const start = performance.now()
    try {
      return await work()
    } finally {
      setTimeLimit(true)
      // Lets the events of clients that gave up meanwhile arrive: their statements are skipped then. It takes two rounds.
      if (performance.now() - start > LONG_MS) {
        await nextEvents()
        await nextEvents()
      }
    }
  }

  function take<T>(work: () => Promise<T> | T): Promise<T> {
    const result = last.then(() => run(work))
    last = result.catch(() => {})
    return result
  }

  return {
    take,
    /** Runs `work` unless its turn begins too late. Returns whether it was run. */
    takeWithin(waitMs: number, work: () => Promise<void>): Promise<boolean> {
      return new Promise((done, fail) => {
        let isTooLate = false
        let timer = setTimeout(() => {
          timer = setTimeout(giveUp, GRACE_MS)
        }, waitMs)
        function giveUp() {
          isTooLate = true
          done(false)
        }
        async function workInTime() {
          clearTimeout(timer)
          if (!isTooLate) await work()
        }
        take(workInTime).then(() => done(true), fail)
      })
    },
    /** For the rest of the current turn. */
    liftTimeLimit: () => setTimeLimit(false),
  }
}
