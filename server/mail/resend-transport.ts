import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { warnIfOverdue } from './backlog.ts'
import { type Limits, limitsOf, readUsed } from './budget.ts'
import {
  backOffMs,
  type ClaimedMail,
  claimDue,
  type Result,
  type StoredMail,
  withholdNotices,
  withholdOld,
} from './queue.ts'
import { createMailer } from './resend.ts'
import type { Outcome } from './resend-answers.ts'
import type { Transport } from './sender.ts'
import { kinds, mailKinds } from './states.ts'
import { createSummaryWriter } from './summary.ts'
import { writeMessage } from './templates.ts'

/* Decides which mails are sent now, and what the outcome of a try means for the mail and for the next tries. */

const WARN_MS = 3_600_000
/** Enough for 100 a second with answers that take 200 ms. */
const PARALLEL = 20
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
  const budget = { mails: env.MAIL_DAILY_BUDGET, receivers: staffEmails.length }
  const mailer = createMailer(env)
  const writeSummaryIfDue = createSummaryWriter(db, env, budget, log, summaryWaitMs)
  let used = 0
  let warnAt = 0 // by this process's monotonic clock

  function limitsNow(): Limits {
    const { each, together } = limitsOf(budget, used)
    return { each: env.PUBLIC_URL ? each : { ...each, Confirmation: 0 }, together } // without PUBLIC_URL its link leads nowhere
  }

  return {
    lease: 'mail sender',
    parallel: PARALLEL,
    intervalMs: mailer.intervalMs,
    async prepare(isUpkeep) {
      if (isUpkeep) await withholdOld(db, mailKinds, env.MAIL_MAX_AGE_DAYS)
      used = await readUsed(db, budget)
      const { each } = limitsNow()
      if (each.Notice === 0) await withholdNotices(db)
      if (each.Summary > 0) await writeSummaryIfDue(isUpkeep)
      if (isUpkeep && performance.now() >= warnAt && (await warnIfOverdue(db, log)))
        warnAt = performance.now() + WARN_MS
    },
    async claim(most) {
      const { each, together } = limitsNow()
      const mails = await claimDue(db, each, Math.min(most, together), env.MAIL_LEASE_SECONDS)
      for (const { kind, triedBefore } of mails)
        if (!triedBefore) used += kinds[kind].to === 'staff' ? budget.receivers : 1
      return mails
    },
    async attempt(mail, newSignal) {
      const message = writeMessage(mail, staffEmails, env.PUBLIC_URL)
      if (!message) return unsent('Withheld', 'Not sent: what it was about was erased.')
      if ((mail.triedHoursAgo ?? 0) > KEY_LIFETIME_HOURS) return { to: 'Unknown', lastError: KEY_EXPIRED }
      const reason = kinds[mail.kind].to === 'visitor' && (await readWithholdReason(db, mail))
      if (reason) return unsent('Withheld', `${mail.triedBefore ? NOT_SENT_AGAIN : 'Not sent'}: ${reason}.`)
      return resultOf(mail, await mailer.send(message, newSignal), env.MAIL_RETRY_SECONDS)
    },
    logResult({ id, kind, attempts }, { to, lastError }) {
      if (!lastError) return
      const reason = lastError.split(':')[0]
      const fields = { mail: id, kind, attempt: attempts, state: to, reason }
      const isToStaff = kinds[kind].to === 'staff'
      if (to === 'Sent') log.error(fields, 'a mail was refused for one of its receivers: correct STAFF_EMAILS')
      else if ((isToStaff && (to === 'Failed' || to === 'Unknown')) || reason?.includes('monthly_quota_exceeded'))
        log.error(fields, 'a mail was not sent, and staff may not know of an enquiry: see `staff mails`')
      else if (to !== 'Withheld') log.warn(fields, 'a mail was not sent')
    },
  }
}

function unsent(to: Result['to'], lastError: string, pauseMs?: number): Result {
  return { to, lastError, isUnsent: true, ...(pauseMs && { pauseMs }) }
}

function resultOf({ kind, attempts }: ClaimedMail, outcome: Outcome, backOffSeconds: number): Result {
  if (outcome.is === 'sent') {
    const { resendId, notTo } = outcome
    return { to: 'Sent', lastError: notTo ? `${notTo} (for one of its receivers)` : null, resendId }
  }
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
    case 'unreachable':
      return unsent('Pending', lastError, retryMs)
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
