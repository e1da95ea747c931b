/** How fast Resend may be asked, as the headers of its answers say. */
export interface Pace {
  /** How many more requests may be started now, with so many under way; if none, for how long at least. */
  room(underWay: number): { mails: number; pauseMs: number }
  started(): void
  /** What was started sends nothing after all. */
  calledOff(): void
  /** `headers` of an answer that came while so many other requests were under way. */
  learn(headers: Record<string, string> | null | undefined, underWay: number): void
  /** Starts nothing for so long. */
  pause(milliseconds: number): void
}

/** So many requests at a time: enough for 100 a second with answers that take a tenth of one. */
const PARALLEL = 10
/** Mails are claimed several at a time and not one by one. */
const FREE_MIN = 5

/**
 * Resend counts the requests of a team in windows of a second and tells, with each answer, how many are left and when
 * the next window begins. Nothing is guessed: before the first answer one request goes alone, and without these headers
 * only `PARALLEL` bounds them.
 */
export function createPace(now: () => number = () => performance.now()): Pace {
  let limit: number | undefined
  let left = 1
  let windowEnd = Number.POSITIVE_INFINITY
  let pausedUntil = Number.NEGATIVE_INFINITY

  function beginWindow(underWay: number) {
    left = (limit ?? Number.POSITIVE_INFINITY) - underWay // those may be counted in the new window
    windowEnd = Number.POSITIVE_INFINITY // until its first answer
  }

  return {
    room(underWay) {
      const time = now()
      if (time < pausedUntil) return { mails: 0, pauseMs: pausedUntil - time }
      if (time >= windowEnd) beginWindow(underWay)
      const free = PARALLEL - underWay
      const mails = free < FREE_MIN ? 0 : Math.max(0, Math.min(free, left))
      const waitsForWindow = mails === 0 && left <= 0 && windowEnd !== Number.POSITIVE_INFINITY
      return { mails, pauseMs: waitsForWindow ? windowEnd - time : 0 }
    },
    started() {
      left--
    },
    calledOff() {
      left++
    },
    learn(headers, underWay) {
      const [allowed, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
        readNumber(headers?.[`ratelimit-${name}`]),
      )
      const isFirst = windowEnd === Number.POSITIVE_INFINITY
      if (allowed === undefined || remaining === undefined || reset === undefined) {
        if (headers && limit === undefined) left = Number.POSITIVE_INFINITY
        else if (isFirst) left = Math.max(left, 1) // no answer of Resend's: the next one may tell
        return
      }
      limit = allowed
      const untold = remaining - underWay // those under way may not be counted yet
      left = isFirst ? untold : Math.min(left, untold)
      windowEnd = Math.min(windowEnd, now() + reset * 1000) // told in whole seconds: the earliest is the nearest
    },
    pause(milliseconds) {
      pausedUntil = Math.max(pausedUntil, now() + milliseconds)
    },
  }
}

function readNumber(text: string | undefined): number | undefined {
  const number = Number(text)
  return text && Number.isFinite(number) && number >= 0 ? number : undefined
}
