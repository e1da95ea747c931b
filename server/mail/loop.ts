import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Availability } from '../database/availability.ts'
import { isRefusal } from '../errors.ts'

export interface LoopParts {
  availability: Availability
  log: Pick<Logger, 'error' | 'warn' | 'info'>
  /** How often to look for what is owed, unless woken before: POLL_MS unless given. */
  pollMs?: number | undefined
}

export interface Loop {
  /** Looks for what is due now instead of at the next poll. Never throws. */
  wake(): void
  /** Ends what is still under way after the grace of `stop`. */
  graceIsOver: AbortSignal
  /** Ends once what is under way, and `others`, have an outcome, or `graceMs` have passed. */
  stop(graceMs: number, others?: () => Iterable<Promise<unknown> | undefined>): Promise<void>
}

export const POLL_MS = 1000
export const RETRY_MAX_SECONDS = 300

/**
 * Looks for what is owed, one look at a time: when it is woken, and from then on at each poll.
 * @param look resolves to how long it is too soon for another
 */
export function startLoop(look: () => Promise<number>, { availability, log, pollMs = POLL_MS }: LoopParts): Loop {
  const graceIsOver = new AbortController()
  let stopped = false
  let looking = false
  let lookAgain = false
  let lookFails = false
  let lastLook: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  function wake() {
    lookAgain = true
    if (looking || stopped) return
    looking = true
    lookAgain = false
    clearTimeout(timer)
    lastLook = lookSafely().then((pauseMs) => {
      looking = false
      if (stopped) return
      if (lookAgain && pauseMs === 0) wake()
      else timer = setTimeout(wake, Math.min(pauseMs || pollMs, pollMs))
    })
  }

  async function lookSafely(): Promise<number> {
    try {
      const pauseMs = await look()
      lookFails = false
      return pauseMs
    } catch (error) {
      if (!lookFails) {
        if (isRefusal(error)) log.error({ err: error }, 'the outbox cannot work: mails wait')
        else availability.failed(error)
      }
      lookFails = true
      return pollMs
    }
  }

  return {
    wake,
    graceIsOver: graceIsOver.signal,
    async stop(graceMs, others = () => []) {
      stopped = true
      clearTimeout(timer)
      const ended = lastLook.then(() => Promise.allSettled(others()))
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
      graceIsOver.abort()
      await ended
    },
  }
}

/** How long to wait after so many tries that failed: twice as long each time, and not all for the same time. */
export function backOffMs(attempts: number, baseSeconds: number): number {
  const seconds = Math.min(baseSeconds * 2 ** Math.min(attempts - 1, 10), RETRY_MAX_SECONDS)
  return seconds * 1000 * (0.75 + Math.random() / 2)
}
