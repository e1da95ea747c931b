import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { type Env, publicUrlOf } from '../env.ts'
import { isDatabaseAway } from '../errors.ts'
import { applyEvents, applyMissedEvents, createDeliveryCheck, deleteOldEvents } from './delivery.ts'
import { createPace } from './pace.ts'
import {
  backOffMs,
  type ClaimedMail,
  claimDue,
  correctFutureTimes,
  type Result,
  type StoredMail,
  withholdOld,
} from './queue.ts'
import { createMailer, type Outcome, type ResponseHeaders } from './resend.ts'
import type { Transport } from './sender.ts'
import { kinds, mailKinds } from './states.ts'
import { createSummaryWriter } from './summary.ts'
import { writeMessage } from './templates.ts'
import { allowedNow, budgetOf, readUsage, type Usage, warnIfOverdue } from './usage.ts'

const WARN_MS = 3_600_000
/** Without webhooks: when Resend is first asked whether a mail arrived. */
const FIRST_CHECK_MS = 300_000
/** After an ambiguous try, so that few mails have one while Resend is down. */
const AMBIGUOUS_PAUSE_MS = 1000
const MISCONFIGURED_FACTOR = 12
const PAUSE_MAX_MS = 300_000
const QUOTA_PAUSE_MS = 3_600_000
/** Resend remembers an idempotency key for 24 hours; an hour is left for clocks that differ and for the try itself. */
const KEY_LIFETIME_HOURS = 23
const MAILS_A_DAY_TO_A_MAILBOX = 3
const NOT_SENT_AGAIN = 'Not sent again, but an earlier try may have sent it'
const KEY_EXPIRED = 'An earlier try may have sent this mail; too long ago to try again without a second copy.'

export function createResendTransport(db: Db, env: Env, log: Logger, summaryWaitMs?: number): Transport {
  const staffEmails = env.STAFF_EMAILS
  const mailer = createMailer(env)
  const pace = createPace()
  const publicUrl = publicUrlOf(env)
  let usage: Usage | undefined
  const writeSummaryIfDue = createSummaryWriter(db, env, log, summaryWaitMs)
  const checkDelivery = env.RESEND_WEBHOOK_SECRET ? undefined : createDeliveryCheck(db, log, staffEmails, mailer, pace)
  let warnAt = 0 // by this process's monotonic clock

  /** Mails are sent also if it fails. */
  async function cleanUp() {
    try {
      if (performance.now() >= warnAt && (await warnIfOverdue(db, log))) warnAt = performance.now() + WARN_MS
      await applyMissedEvents(db, log, staffEmails)
      await deleteOldEvents(db)
    } catch (err) {
      if (isDatabaseAway(err)) throw err
      log.error({ err }, 'the queue of mails could not be cleaned up; mails are sent all the same')
    }
  }

  return {
    lease: 'mail sender',
    capacity: pace.capacity,
    async prepare(isUpkeep) {
      if (isUpkeep && (await withholdOld(db, mailKinds, env.MAIL_MAX_AGE_DAYS, log))) return 'again'
      if (isUpkeep) await correctFutureTimes(db, mailKinds) // before anything is sent: a key may have expired
      usage = await readUsage(db, budgetOf(env))
      await writeSummaryIfDue(usage, isUpkeep)
      if (isUpkeep) await cleanUp()
      checkDelivery?.()
      return 'ready'
    },
    async claim(most) {
      if (!usage) return []
      const mails = await claimDue(db, allowedNow(env, usage), most, env.MAIL_LEASE_SECONDS)
      for (const { kind, triedBefore } of mails) if (kind !== 'Post' && !triedBefore) usage.used[kind]++
      for (const _ of mails) pace.started()
      return mails
    },
    async attempt(mail, signal) {
      let headers: ResponseHeaders | 'unsent' = 'unsent'
      try {
        const message = writeMessage(mail, staffEmails, publicUrl)
        if (!message) return unsent('Withheld', 'Not sent: what it was about was erased.')
        if ((mail.triedHoursAgo ?? 0) > KEY_LIFETIME_HOURS) return { to: 'Unknown', lastError: KEY_EXPIRED }
        const reason = kinds[mail.kind].to === 'visitor' && (await readWithholdReason(db, mail))
        if (reason) return unsent('Withheld', `${mail.triedBefore ? NOT_SENT_AGAIN : 'Not sent'}: ${reason}.`)
        const answer = await mailer.send(message, signal)
        headers = answer.headers
        return resultOf(mail, answer.outcome, env.MAIL_RETRY_SECONDS)
      } finally {
        pace.ended(headers)
      }
    },
    async afterRecorded({ id, kind, attempts }, { to, lastError, resendId }) {
      if (resendId) return applyEvents(db, log, resendId, staffEmails)
      const reason = lastError?.split(':')[0]
      const fields = { mail: id, kind, attempt: attempts, state: to, reason }
      const isAlarm = kinds[kind].to === 'staff' && (to === 'Failed' || to === 'Unknown')
      if (isAlarm || reason?.includes('monthly_quota_exceeded'))
        log.error(fields, 'a mail was not sent, and staff may not know of an enquiry: see `staff mails`')
      else if (to !== 'Withheld') log.warn(fields, 'a mail was not sent')
    },
  }
}

function unsent(to: Result['to'], lastError: string, pauseMs?: number): Result {
  return { to, lastError, isUnsent: true, ...(pauseMs && { pauseMs }) }
}

function resultOf({ kind, attempts }: ClaimedMail, outcome: Outcome, backOffSeconds: number): Result {
  if (outcome.is === 'sent') return { to: 'Sent', lastError: null, resendId: outcome.resendId, dueInMs: FIRST_CHECK_MS }
  const { error: lastError } = outcome
  const retryMs = backOffSeconds * 1000
  switch (outcome.is) {
    case 'refused':
      // Anybody can type an address: nobody need do anything about one that does not exist.
      if (kind === 'Confirmation') return { to: 'Withheld', lastError: `Resend refuses the address: ${lastError}` }
      return { to: 'Failed', lastError }
    case 'unknowable':
      return { to: 'Unknown', lastError }
    case 'ambiguous': {
      const pauseMs = Math.min(retryMs, AMBIGUOUS_PAUSE_MS)
      return { to: 'Pending', lastError, dueInMs: backOffMs(attempts, backOffSeconds), pauseMs }
    }
    case 'throttled':
      return unsent('Pending', lastError, outcome.retryAfterMs ?? retryMs)
    case 'misconfigured':
      return unsent('Pending', lastError, Math.min(retryMs * MISCONFIGURED_FACTOR, PAUSE_MAX_MS))
    case 'overQuota':
      return unsent('Pending', lastError, QUOTA_PAUSE_MS)
  }
}

/**
 * Why this mail to a visitor is not to be sent, if so. A mailbox gets three in 24 hours, so that nobody can flood it through
 * our forms. Of two that are being sent at the same time, only the later one counts the other.
 */
export async function readWithholdReason(db: Db, mail: StoredMail): Promise<string | undefined> {
  const { id, mailbox, triedAt, enquiry, subscriber } = mail
  if (enquiry?.suspectedSpam) return 'suspected spam'
  if (subscriber?.confirmedAt) return 'the address is confirmed'
  const [{ hasEnded, others }] = await db.$queryRaw<[{ hasEnded: boolean; others: number }]>`
    SELECT (${subscriber?.endsAt ?? null}::timestamptz < now()) IS TRUE AS "hasEnded", (
      SELECT count(*)::int FROM "Quvera_Mail"
      WHERE "Mailbox" = ${mailbox} AND "TriedAt" > now() - interval '24 hours' AND "Id" <> ${id}
        AND ("Status" <> 'Pending' OR ("TriedAt", "Id") < (${triedAt}::timestamptz, ${id}))) AS "others"`
  if (hasEnded) return 'the subscription has ended'
  if (others < MAILS_A_DAY_TO_A_MAILBOX) return undefined
  return `this address has had ${MAILS_A_DAY_TO_A_MAILBOX} acknowledgements or confirmations within 24 hours`
}
