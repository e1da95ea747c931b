import type { Outcome } from './mailer.ts'

/** How fast mails may be sent, learnt from Resend's answers: its limits differ by plan and its documents disagree. */
export interface Pace {
  /**
   * How many more mails may be started now, with so many under way. If none because it is too soon, `pauseMs` says for
   * how long; it is 0 when only the end of a mail under way makes room.
   */
  room(underWay: number): { mails: number; pauseMs: number }
  started(): void
  /** Orders are being written: leave them their CPU for a while. */
  giveWay(): void
  learn(outcome: Outcome): void
  /** Starts nothing for so long, and slowly after that. */
  pause(milliseconds: number): void
}

const LANES_MAX = 20
/** With all lanes open, mails are claimed so many at a time and not one by one. */
const CLAIM_MIN = 5
/** At most so many mails in so long: 800 a second, or 480 beside orders. Far more than any plan allows. */
const WINDOW = { ms: 50, mails: 40, mailsBesideOrders: 24 }
/** So many mails must be taken before one more is sent in parallel. */
const SENT_A_LANE = 8
/** After a refusal: how far to stay below the rate that was accepted. */
const CAUTION = 1.15
/** How the wait between mails shrinks with each mail taken: slowly near the limit just met, faster when it seems gone. */
const RECOVERY = { near: 0.998, far: 0.97, farAfterMs: 10_000 }

export function createPace(now: () => number = () => performance.now()): Pace {
  let taken = 0
  let takenAt: number[] = []
  let intervalMs = 0
  let throttledAt = Number.NEGATIVE_INFINITY
  let nextStart = 0
  let windowStart = Number.NEGATIVE_INFINITY
  let inWindow = 0
  let ordersUntil = Number.NEGATIVE_INFINITY

  return {
    room(underWay) {
      const time = now()
      if (time < nextStart) return { mails: 0, pauseMs: nextStart - time }
      if (intervalMs > 1) return { mails: underWay === 0 ? 1 : 0, pauseMs: 0 }
      if (time - windowStart >= WINDOW.ms) {
        windowStart = time
        inWindow = 0
      }
      const left = (time < ordersUntil ? WINDOW.mailsBesideOrders : WINDOW.mails) - inWindow
      if (left <= 0) return { mails: 0, pauseMs: windowStart + WINDOW.ms - time }
      const lanes = Math.min(LANES_MAX, 1 + Math.floor(taken / SENT_A_LANE))
      const free = lanes - underWay
      if (lanes === LANES_MAX && free < CLAIM_MIN) return { mails: 0, pauseMs: 0 }
      return { mails: Math.max(0, Math.min(free, left)), pauseMs: 0 }
    },
    started() {
      inWindow++
      nextStart = Math.max(nextStart, now() + intervalMs)
    },
    giveWay() {
      ordersUntil = now() + WINDOW.ms
    },
    learn(outcome) {
      const time = now()
      takenAt = takenAt.filter((at) => at > time - 1000)
      if (outcome.is === 'sent') {
        taken++
        takenAt.push(time)
        intervalMs *= time - throttledAt > RECOVERY.farAfterMs ? RECOVERY.far : RECOVERY.near
        if (outcome.pauseMs) nextStart = time + outcome.pauseMs
        return
      }
      taken = 0
      if (outcome.is !== 'throttled') return
      throttledAt = time
      // Refused although nothing was sent: an outage, from which no rate is learnt.
      if (takenAt.length > 0) intervalMs = Math.max(intervalMs, (1000 / takenAt.length) * CAUTION)
    },
    pause(milliseconds) {
      nextStart = Math.max(nextStart, now() + milliseconds)
      taken = 0
    },
  }
}
