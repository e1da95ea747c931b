import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { type ClaimedMail, recordOutcome } from './claims.ts'
import { applyEvents, logChanges } from './delivery.ts'
import { withholdReason } from './limits.ts'
import type { Mailer } from './mailer.ts'
import type { Outcome } from './outcome.ts'
import type { Pace } from './pace.ts'
import { writeMessage } from './write-message.ts'

export interface Delivery {
  db: Db
  mailer: Mailer
  pace: Pace
  staff: string[]
  leaseSeconds: number
  retrySeconds: number
  log: Pick<Logger, 'error' | 'warn' | 'info'>
  signal: AbortSignal
  /** How many other mails are under way. */
  others(): number
}

const SEND_TIMEOUT_MS = 10_000
/** Resend remembers an idempotency key for 24 hours; an hour is left for clocks that differ and for the try itself. */
const KEY_LIFETIME_MS = 23 * 3_600_000
const RETRY_MAX_SECONDS = 300
const MISCONFIGURED_FACTOR = 12
const QUOTA_PAUSE_MS = 3_600_000

/** Sends a claimed mail once and writes down what came of it. */
export async function deliver(mail: ClaimedMail, delivery: Delivery): Promise<void> {
  const { db, mailer, pace, staff, leaseSeconds, log } = delivery
  const unsendable = await findObstacle(db, mail).catch((error) => {
    pace.calledOff()
    throw error
  })
  if (unsendable) {
    pace.calledOff()
    return recordOutcome(db, mail, unsendable)
  }
  const timeout = AbortSignal.timeout(Math.min(SEND_TIMEOUT_MS, leaseSeconds * 500))
  const signal = AbortSignal.any([delivery.signal, timeout])
  const { outcome, headers } = await mailer.send(writeMessage(mail, staff), signal)
  pace.learn(headers, delivery.others())
  if (outcome.is === 'sent') {
    await recordOutcome(db, mail, {
      status: 'Sent',
      resendId: outcome.resendId,
      sentAt: new Date(),
      lastError: null,
    })
    return logChanges(log, await applyEvents(db))
  }
  warn(mail, outcome, log)
  if (outcome.is === 'refused') {
    return recordOutcome(db, mail, { status: 'Failed', lastError: outcome.error, ambiguousAt: mail.ambiguousAt })
  }
  const waitMs = retryAfterMs(outcome, mail.attempts, delivery.retrySeconds)
  if (outcome.is !== 'ambiguous') pace.pause(waitMs)
  await recordOutcome(db, mail, {
    nextAttemptAt: new Date(Date.now() + waitMs),
    lastError: outcome.error,
    ...(outcome.is !== 'ambiguous' && { ambiguousAt: mail.ambiguousAt }),
  })
}

/** Why a mail is not to be sent, as it is written down. */
async function findObstacle(db: Db, { kind, enquiries, ambiguousAt }: ClaimedMail) {
  const [enquiry, ...others] = enquiries
  const withheld = enquiry && others.length === 0 ? await withholdReason(db, kind, enquiry) : undefined
  if (withheld) return { status: 'Withheld', lastError: withheld, ambiguousAt: null } as const
  if (!ambiguousAt || Date.now() - ambiguousAt.getTime() <= KEY_LIFETIME_MS) return undefined
  return {
    status: 'Unknown',
    lastError: 'An earlier try may have sent this mail; too long ago to try again without a second copy.',
  } as const
}

type Failure = Exclude<Outcome, { is: 'sent' }>

/** An error, where staff may never be told unless somebody acts. */
function warn({ id, kind, attempts }: ClaimedMail, outcome: Failure, log: Delivery['log']) {
  const fields = { mail: id, kind, attempt: attempts, outcome: outcome.is, reason: outcome.error.split(':')[0] }
  const isAlarm = (kind === 'Staff' && outcome.is === 'refused') || outcome.error.includes('monthly_quota_exceeded')
  if (isAlarm) log.error(fields, 'a mail was not sent, and staff may not know of an enquiry: see `staff mails`')
  else log.warn(fields, 'a mail was not sent')
}

function retryAfterMs(outcome: Failure, attempts: number, retrySeconds: number): number {
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
