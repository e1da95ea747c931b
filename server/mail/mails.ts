import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { type Env, publicUrlOf } from '../env.ts'
import { applyEvents, askDelivery } from './delivery.ts'
import {
  backOffMs,
  type ClaimedMail,
  claimDue,
  type Result,
  readBacklog,
  readUsage,
  tidyUp,
  type Usage,
  withholdOld,
} from './queue.ts'
import { allowanceOf, type Budget, type Used } from './quota.ts'
import { createMailer, createPace, type Headers, type Outcome } from './resend.ts'
import type { Work } from './sender.ts'
import { kinds, mailKinds } from './states.ts'
import { writeDigestIfDue, writeSummary } from './summary.ts'
import { writeMessage } from './templates.ts'

const UPKEEP_MS = 60_000
const WARN_MS = 3_600_000
const SUMMARY_WAIT_MS = 60_000
/** Resend is asked whether a mail arrived when it is so old, and again whenever its age has doubled. */
const FIRST_ASKED_MS = 300_000
/** After a try without a clear answer, so that few mails have such a try while Resend is down. */
const UNCLEAR_PAUSE_MS = 1000
const MISCONFIGURED_FACTOR = 12
const PAUSE_MAX_MS = 300_000
const QUOTA_PAUSE_MS = 3_600_000
const TO_A_MAILBOX = 3
const TOO_LATE = 'An earlier try may have sent this mail; too long ago to try again without a second copy.'

export function budgetOf({ MAIL_DAILY_BUDGET: mails, STAFF_EMAILS: { length: receivers } }: Env): Budget {
  return { mails, receivers }
}

/** How many mails of each kind may be sent now. */
export function allowedNow(env: Env, { used, isHeld }: Pick<Usage, 'used' | 'isHeld'>): Used {
  const allowed = allowanceOf(budgetOf(env), used)
  if (isHeld.Acknowledgement) allowed.Acknowledgement = 0
  if (isHeld.Confirmation || !env.PUBLIC_URL) allowed.Confirmation = 0 // without PUBLIC_URL its link leads nowhere
  return allowed
}

/** Sends mails through Resend. */
export function mailWork(db: Db, env: Env, log: Logger, summaryWaitMs = SUMMARY_WAIT_MS): Work {
  const { RESEND_API_KEY: apiKey = '', RESEND_BASE_URL: baseUrl, MAIL_FROM: from, STAFF_EMAILS: staff } = env
  const mailer = createMailer({ apiKey, baseUrl, from })
  const pace = createPace()
  const publicUrl = publicUrlOf(env)
  /** When each was done, by this process's monotonic clock. */
  const last = { upkeep: -UPKEEP_MS, warning: -WARN_MS, nothingToSummarize: performance.now() }
  let usage: Usage | undefined
  let asksDelivery = !env.RESEND_WEBHOOK_SECRET
  let isAsking = false

  /** Writes a summary of the notices that may not be mailed alone, once they have waited for more; and the digest. */
  async function summarize({ used, hasSuspected, hasDue, isSummaryOpen, now }: Usage, isUpkeep: boolean) {
    const withDue = hasDue && allowanceOf(budgetOf(env), used).Staff === 0
    if (!hasSuspected && !withDue) last.nothingToSummarize = performance.now()
    const isDue = isSummaryOpen && performance.now() - last.nothingToSummarize >= summaryWaitMs
    if (isDue) await writeSummary(db, withDue)
    if (isDue) last.nothingToSummarize = performance.now()
    else if (isUpkeep && env.DIGEST_AT && (await writeDigestIfDue(db, env.DIGEST_AT, now, withDue)))
      log.info('the digest of the day is written')
  }

  /** Mails do not wait for the answer. A database that fails is reported at the next poll. */
  async function ask() {
    if (isAsking) return
    isAsking = true
    const answer = await askDelivery(db, mailer, log, staff).catch(() => undefined)
    isAsking = false
    if (answer) pace.learn(answer.headers)
    if (answer) asksDelivery = !answer.forbidden
  }

  return {
    lease: 'sends mails',
    room: pace.room,
    async prepare() {
      const isUpkeep = performance.now() - last.upkeep >= UPKEEP_MS
      if (isUpkeep && (await withholdOld(db, mailKinds, env.MAIL_MAX_AGE_DAYS, log))) return 'again'
      usage = await readUsage(db, budgetOf(env))
      await summarize(usage, isUpkeep).catch((err) => {
        last.nothingToSummarize = performance.now()
        log.error({ err }, 'a summary could not be written; it is tried again in a minute')
      })
      if (isUpkeep) await tidyUp(db)
      if (isUpkeep) last.upkeep = performance.now()
      if (isUpkeep && performance.now() - last.warning > WARN_MS && (await warnIfOverdue(db, log)))
        last.warning = performance.now()
      if (asksDelivery) ask()
      return 'ready'
    },
    async claim(room, isPoll) {
      if (!usage) return []
      const mails = await claimDue(db, allowedNow(env, usage), room, env.MAIL_LEASE_SECONDS, isPoll)
      for (const { kind, triedBefore } of mails) if (kind !== 'Post' && !triedBefore) usage.used[kind]++
      for (const _ of mails) pace.started()
      return mails
    },
    async attempt(mail, signal) {
      let answered: Headers | 'unsent' = 'unsent'
      try {
        const message = writeMessage(mail, staff, publicUrl)
        if (!message) return unsent('Withheld', 'Not sent: what it was about was erased.')
        if (mail.isTooLate) return { to: 'Unknown', lastError: TOO_LATE }
        const reason = kinds[mail.kind].to === 'visitor' && (await withholdReason(db, mail))
        if (reason) return unsent('Withheld', reason)
        const { outcome, headers } = await mailer.send(message, signal)
        answered = headers
        return resultOf(mail, outcome, env.MAIL_RETRY_SECONDS)
      } finally {
        pace.ended(answered)
      }
    },
    async recorded({ id, kind, attempts }, { to, lastError, resendId }) {
      if (resendId) return applyEvents(db, log, { resendId }, staff)
      const reason = lastError?.split(':')[0]
      const fields = { mail: id, kind, attempt: attempts, state: to, reason }
      const isForGood = kinds[kind].to === 'staff' && (to === 'Failed' || to === 'Unknown')
      if (isForGood || reason?.includes('monthly_quota_exceeded'))
        log.error(fields, 'a mail was not sent, and staff may not know of an enquiry: see `staff mails`')
      else if (to !== 'Withheld') log.warn(fields, 'a mail was not sent')
    },
  }
}

function unsent(to: Result['to'], lastError: string): Result {
  return { to, lastError, isUnsent: true }
}

/** What Resend's answer makes of a mail; `seconds` are the base of the back-off. */
function resultOf({ kind, attempts }: ClaimedMail, outcome: Outcome, seconds: number): Result {
  if (outcome.is === 'sent') return { to: 'Sent', lastError: null, resendId: outcome.resendId, dueInMs: FIRST_ASKED_MS }
  const { error: lastError } = outcome
  const retryMs = seconds * 1000
  // Anybody can type an address: nobody need do anything about one that does not exist.
  if (outcome.is === 'refused' && kind === 'Confirmation')
    return { to: 'Withheld', lastError: `Resend refuses the address: ${lastError}` }
  if (outcome.is === 'refused') return { to: 'Failed', lastError }
  if (outcome.is === 'ambiguous' && outcome.final) return { to: 'Unknown', lastError }
  if (outcome.is === 'ambiguous')
    return {
      to: 'Pending',
      lastError,
      dueInMs: backOffMs(attempts, seconds),
      pauseMs: Math.min(retryMs, UNCLEAR_PAUSE_MS),
    }
  const pauseMs = {
    throttled: outcome.retryAfterMs ?? retryMs,
    misconfigured: Math.min(retryMs * MISCONFIGURED_FACTOR, PAUSE_MAX_MS),
    overQuota: QUOTA_PAUSE_MS,
  }[outcome.is]
  return { ...unsent('Pending', lastError), dueInMs: pauseMs, pauseMs }
}

/** @returns whether it warned */
export async function warnIfOverdue(db: Db, log: Pick<Logger, 'warn'>): Promise<boolean> {
  const { isOverdue, oldestPendingSeconds, pending } = await readBacklog(db)
  if (isOverdue) log.warn({ oldestPendingSeconds, pending }, 'mails wait longer than they should: see `staff mails`')
  return isOverdue
}

/**
 * Why this mail to a visitor is not to be sent, if so: nobody can flood a mailbox through our forms. Counted are the
 * enquiries of the mailbox that came in the 24 hours before this one, and the confirmations that were sent or whose try
 * began before this one.
 * Suspected spam got no acknowledgement, and would use up those of the person in whose name it came.
 */
async function withholdReason(db: Db, mail: ClaimedMail): Promise<string | undefined> {
  const { id, enquiry, subscriber } = mail
  if (enquiry?.suspectedSpam) return 'Not sent: suspected spam.'
  if (subscriber?.confirmedAt) return 'Not sent: the address is confirmed.'
  const receiver = enquiry ?? subscriber
  if (!receiver) return undefined
  const receivedAt = enquiry?.receivedAt ?? null
  const [row] = await db.$queryRaw<[{ earlier: number; hasEnded: boolean }]>`
    SELECT (${subscriber?.endsAt ?? null}::timestamptz < now()) IS TRUE AS "hasEnded", (
      SELECT count(*)::int FROM (
        (SELECT FROM "Quvera_Form", (SELECT coalesce(${receivedAt}::timestamptz, now()) AS "at") AS here
          WHERE "Quvera_mailbox"("Email") = "Quvera_mailbox"(${receiver.email}) AND NOT "SuspectedSpam"
            AND "ReceivedAt" BETWEEN here."at" - interval '24 hours' AND here."at"
            AND ("ReceivedAt", "Id") < (here."at", ${receiver.id}::uuid)
          LIMIT ${TO_A_MAILBOX})
        UNION ALL
        (SELECT FROM "Quvera_Subscriber" subscriber JOIN "Quvera_Mail" mail ON mail."SubscriberId" = subscriber."Id"
          WHERE "Quvera_mailbox"("Email") = "Quvera_mailbox"(${receiver.email}) AND mail."TriedAt" > now() - interval '24 hours'
            AND mail."Id" <> ${id}
            AND (mail."Status" <> 'Pending' OR (mail."TriedAt", mail."Id") < (${mail.triedAt}::timestamptz, ${id}))
          LIMIT ${TO_A_MAILBOX})
      ) same_mailbox) AS "earlier"`
  if (row.hasEnded) return 'Not sent: the subscription has ended.'
  return row.earlier < TO_A_MAILBOX
    ? undefined
    : `Not sent: this address has had ${TO_A_MAILBOX} acknowledgements or confirmations within 24 hours.`
}
