import { setTimeout as sleep } from 'node:timers/promises'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import { type ClaimedMail, claimMails, recordOutcome } from './claims.ts'
import { withholdReason } from './limits.ts'
import type { Mailer, Outcome } from './mailer.ts'
import { createPace } from './pace.ts'

export interface Outbox {
  /** Orders were stored: looks for due mails now instead of at the next poll. */
  wake(): void
  /** Ends once the mails under way have an outcome, or `graceMs` have passed. */
  stop(graceMs: number): Promise<void>
}

export interface OutboxOptions {
  leaseSeconds: number
  retrySeconds: number
  availability: Availability
  log: { warn(details: object, message: string): void; error(details: object, message: string): void }
}

const POLL_MS = 1000
const SEND_TIMEOUT_MS = 10_000
/** Resend remembers an idempotency key for 24 hours; an hour is left for clocks that differ and for the try itself. */
const KEY_LIFETIME_MS = 23 * 3_600_000
const RETRY_MAX_SECONDS = 300
const MISCONFIGURED_FACTOR = 12
const QUOTA_PAUSE_MS = 3_600_000

/**
 * Sends the mails that `Quvera_Mail` says we owe, from any number of processes. A mail is claimed by moving its next
 * attempt forward before it is sent: no transaction stays open meanwhile, and when this process dies another one
 * takes the mail over after the lease, with the same idempotency key.
 */
export function startOutbox(db: Db, mailer: Mailer, options: OutboxOptions): Outbox {
  const pace = createPace()
  const underWay = new Set<Promise<void>>()
  const abort = new AbortController()
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
    lastLook = look()
      .then(
        (pauseMs) => {
          lookFails = false
          return pauseMs
        },
        (error: unknown) => {
          if (!lookFails) options.availability.failed(error)
          lookFails = true
          return POLL_MS
        },
      )
      .then((pauseMs) => {
        looking = false
        if (stopped) return
        if (lookAgain && pauseMs === 0) wake()
        else timer = setTimeout(wake, Math.min(pauseMs || POLL_MS, POLL_MS))
      })
  }

  /** Starts the mails that are due, as far as there is room. Returns for how long it is too soon for more. */
  async function look(): Promise<number> {
    for (const kind of ['Staff', 'Acknowledgement'] as const) {
      const { mails, pauseMs } = pace.room(underWay.size)
      if (mails === 0) return pauseMs
      for (const mail of await claimMails(db, kind, mails, options.leaseSeconds)) {
        pace.started()
        const sending = deliver(mail)
          .catch((error) => options.log.error({ err: error, mail: mail.id }, 'the outcome of a mail was not recorded'))
          .finally(() => {
            underWay.delete(sending)
            wake()
          })
        underWay.add(sending)
      }
    }
    return 0
  }

  async function deliver(mail: ClaimedMail) {
    const withheld = await withholdReason(db, mail)
    if (withheld) return recordOutcome(db, mail, { status: 'Withheld', lastError: withheld })
    if (mail.ambiguousAt && Date.now() - mail.ambiguousAt.getTime() > KEY_LIFETIME_MS) {
      return recordOutcome(db, mail, {
        status: 'Unknown',
        lastError: 'An earlier try may have sent this mail; too long ago to try again without a second copy.',
      })
    }
    const timeout = Math.min(SEND_TIMEOUT_MS, options.leaseSeconds * 500)
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(timeout)])
    const outcome = await mailer.send(mail.kind, mail.enquiry, signal)
    pace.learn(outcome)
    if (outcome.is === 'sent') {
      return recordOutcome(db, mail, {
        status: 'Sent',
        resendId: outcome.resendId,
        sentAt: new Date(),
        lastError: null,
      })
    }
    const about = { mail: mail.id, kind: mail.kind, attempt: mail.attempts, outcome: outcome.is }
    options.log.warn({ ...about, reason: outcome.error.split(':')[0] }, 'a mail was not sent')
    if (outcome.is === 'refused') return recordOutcome(db, mail, { status: 'Failed', lastError: outcome.error })
    const waitMs = retryAfterMs(outcome, mail.attempts, options.retrySeconds)
    if (outcome.is !== 'ambiguous') pace.pause(waitMs)
    await recordOutcome(db, mail, {
      nextAttemptAt: new Date(Date.now() + waitMs),
      lastError: outcome.error,
      ...(outcome.is !== 'ambiguous' && { ambiguousAt: mail.ambiguousAt }),
    })
  }

  wake()
  return {
    wake() {
      pace.giveWay()
      wake()
    },
    async stop(graceMs) {
      stopped = true
      clearTimeout(timer)
      const ended = lastLook.then(() => Promise.allSettled(underWay)) // what a look claims is under way like the rest
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
      abort.abort()
      await Promise.allSettled(underWay)
    },
  }
}

function retryAfterMs(outcome: Outcome, attempts: number, retrySeconds: number): number {
  const backOff = Math.min(retrySeconds * 2 ** Math.min(attempts - 1, 10), RETRY_MAX_SECONDS) * 1000
  switch (outcome.is) {
    case 'throttled':
      return outcome.retryAfterMs ?? retrySeconds * 1000
    case 'misconfigured':
      return Math.min(retrySeconds * MISCONFIGURED_FACTOR, RETRY_MAX_SECONDS) * 1000
    case 'overQuota':
      return QUOTA_PAUSE_MS
    default:
      return backOff * (0.75 + Math.random() / 2)
  }
}
