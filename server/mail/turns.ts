import { setTimeout as sleep } from 'node:timers/promises'

/** A delay up to this is made up for by the next turns; a longer one moves the schedule. */
const LATE_MS = 50

export type Turns = ReturnType<typeof createTurns>

/** Lets requests begin one after the other, `intervalMs` apart: those of new tries, and the further ones of a try. */
export function createTurns(intervalMs: () => number) {
  let nextAt = 0 // by performance.now()
  return {
    intervalMs,
    nextAt: () => nextAt,
    /** Takes the next turn at once. Resolves when the turn has come, or with the signal. */
    async take(signal?: AbortSignal): Promise<void> {
      const now = performance.now()
      const at = Math.max(nextAt, now - LATE_MS)
      nextAt = at + intervalMs()
      if (at > now) await sleep(at - now, undefined, { signal }).catch(() => undefined)
    },
  }
}
