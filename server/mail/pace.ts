import { type ResponseHeaders, readNumber } from './resend.ts'

export type Pace = ReturnType<typeof createPace>

/** Requests at a time. With answers that take 100 ms these are enough for 100 a second. */
const PARALLEL = 10
/** Waits until so many are free: one statement then claims several mails instead of one. */
const FREE_MIN = 5
/** The limit when answers name none. A higher one would take the processor from orders. */
const ASSUMED_A_SECOND = 100

/**
 * Keeps to Resend's rate limit, which counts the whole team's requests a second. Each answer tells how many are left and
 * when the next window begins. Before the first answer one request goes alone.
 */
export function createPace(now: () => number = () => performance.now()) {
  let limit: number | undefined
  let left = 1
  let underWay = 0
  let windowEnd = Number.POSITIVE_INFINITY

  function readLimits(headers: ResponseHeaders) {
    const isFirst = windowEnd === Number.POSITIVE_INFINITY
    if (!headers) {
      if (isFirst) left = Math.max(left, 1) // Resend did not answer: the next one may tell
      return
    }
    const read = (name: string) => readNumber(headers[`ratelimit-${name}`])
    const remaining = read('remaining') ?? (limit ? left + underWay : ASSUMED_A_SECOND - 1)
    const leftInWindow = remaining - underWay // Resend's count may not include the requests under way
    limit = read('limit') ?? limit ?? ASSUMED_A_SECOND
    left = isFirst ? leftInWindow : Math.min(left, leftInWindow)
    windowEnd = Math.min(windowEnd, now() + (read('reset') ?? 1) * 1000) // Resend rounds up to seconds: the earliest end counts
  }

  return {
    /** How many more requests may be started now; if none, how long to wait at least. */
    capacity() {
      const time = now()
      if (time >= windowEnd) {
        left = (limit ?? ASSUMED_A_SECOND) - underWay // those may be counted in the new window
        windowEnd = Number.POSITIVE_INFINITY // until its first answer
      }
      const free = PARALLEL - underWay
      const tries = free < FREE_MIN ? 0 : Math.max(0, Math.min(free, left))
      const waitsForWindow = tries === 0 && left <= 0 && windowEnd !== Number.POSITIVE_INFINITY
      return { tries, pauseMs: waitsForWindow ? windowEnd - time : 0 }
    },
    started() {
      left--
      underWay++
    },
    /** Call it for each request that was started: with Resend's headers, or `unsent` if it was not sent after all. */
    ended(headers: ResponseHeaders | 'unsent') {
      underWay--
      if (headers === 'unsent') left++
      else readLimits(headers)
    },
  }
}
