import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import { releaseLease, takeLease } from '../database/lease.ts'
import { isRefusal } from '../errors.ts'

export interface LoopParts {
  availability: Availability
  log: Pick<Logger, 'error' | 'warn' | 'info'>
  /** How often to look for what is owed, unless woken before: POLL_MS unless given. */
  pollMs?: number | undefined
}

export type Loop = ReturnType<typeof startLoop>

export const POLL_MS = 1000
export const TRY_TIMEOUT_MS = 10_000
export const RETRY_MAX_SECONDS = 300

interface LoopWork {
  /** Of all processes one works at a time: the one with this lease. Another one takes over after so many seconds. */
  name: string
  seconds: number
  /**
   * Looks for what is due: at each poll, which asks for the lease, and when woken between two of them.
   * @returns for how long it is too soon for another look
   */
  look(isPoll: boolean): Promise<number>
  /** What goes on after the look that began it. */
  underWay?(): Iterable<Promise<unknown> | undefined>
}

/** Looks for what is owed, one look at a time: at once, when it is woken, and from then on at each poll. */
export function startLoop(
  db: Db,
  { name, seconds, look, underWay = () => [] }: LoopWork,
  { availability, log, pollMs = POLL_MS }: LoopParts,
) {
  const holder = randomUUID()
  const stopping = new AbortController()
  const graceIsOver = new AbortController()
  let isMine = false
  let askedAt = Number.NEGATIVE_INFINITY
  let lookFails = false
  let woken = new AbortController()
  const wake = () => woken.abort()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = new AbortController()
      const pauseMs = await lookSafely()
      if (stopping.signal.aborted) return
      if (pauseMs > 0) woken = new AbortController() // whatever came during the look comes too soon
      const waited = sleep(Math.min(pauseMs || pollMs, pollMs), undefined, { signal: woken.signal })
      await waited.catch(() => undefined)
    }
  }

  async function lookSafely(): Promise<number> {
    try {
      const now = performance.now()
      const isPoll = now - askedAt >= pollMs
      if (isPoll) isMine = await takeLease(db, name, holder, seconds)
      if (isPoll) askedAt = now
      const pauseMs = isMine ? await look(isPoll) : pollMs
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

  const running = run()
  return {
    /** Looks for what is due now instead of at the next poll. Never throws. */
    wake,
    stopping: stopping.signal,
    /** Ends a try while what it took for so many seconds is still ours, and after the grace of `stop`. */
    endOfTry(leaseSeconds: number): AbortSignal {
      const timeout = AbortSignal.timeout(Math.min(TRY_TIMEOUT_MS, leaseSeconds * 500))
      return AbortSignal.any([graceIsOver.signal, timeout])
    },
    /** Ends once what is under way has an outcome, or `graceMs` have passed. */
    async stop(graceMs: number) {
      stopping.abort()
      wake()
      const ended = running.then(() => Promise.allSettled(underWay())) // what its last look began is under way too
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
      graceIsOver.abort()
      await ended
      await releaseLease(db, name, holder).catch(() => undefined) // it ends by itself
    },
  }
}

/** How long to wait after so many tries that failed: twice as long each time, and not all for the same time. */
export function backOffMs(attempts: number, baseSeconds: number): number {
  const seconds = Math.min(baseSeconds * 2 ** Math.min(attempts - 1, 10), RETRY_MAX_SECONDS)
  return seconds * 1000 * (0.75 + Math.random() / 2)
}
