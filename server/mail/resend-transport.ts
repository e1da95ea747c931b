import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { staffCommand } from '../format.ts'
import { limitOf, readCount, receiversOf } from './budget.ts'
import {
  backOffMs,
  type ClaimedMail,
  claimTried,
  claimUntried,
  type Result,
  type StoredMail,
  withholdNotices,
  withholdOld,
} from './queue.ts'
import { createMailer } from './resend.ts'
import type { Transport } from './sender.ts'
import { type CountedKind, kinds, mailKinds } from './states.ts'
import { createSummaryWriter } from './summary.ts'
import { writeMessage } from './templates.ts'

/* Decides which mails are sent now, and sends one. */

/** Enough for 100 a second with answers that take 200 ms. */
const PARALLEL = 20
/** Resend remembers an idempotency key for 24 hours; an hour is left for clocks that differ and for the try itself. */
const KEY_LIFETIME_HOURS = 23
const MAILS_A_DAY_TO_A_MAILBOX = 3
const NOT_SENT_AGAIN = 'Not sent again, but an earlier try may have sent it'
const KEY_EXPIRED = 'An earlier try may have sent this mail; too long ago to try again without a second copy.'

export function createResendTransport(db: Db, env: Env, log: Logger, summaryWaitMs?: number): Transport {
  const { STAFF_EMAILS: staffEmails, PUBLIC_URL: publicUrl, MAIL_LEASE_SECONDS: leaseSeconds } = env
  const budget = { mails: env.MAIL_DAILY_BUDGET, receivers: staffEmails.length }
  const mailer = createMailer(env)
  const writeSummaryIfDue = createSummaryWriter(db, env, budget, log, summaryWaitMs)
  let count = 0
  let takesRetriesFirst = false
  const refusedThisRound = new Set<bigint>() // claimed again once no other mail is due

  function limitNow(kind: CountedKind): number {
    if (kind === 'Confirmation' && !publicUrl) return 0 // its link would lead nowhere
    return limitOf(kind, budget, count)
  }

  const claimRetries = (most: number) => claimTried(db, mailKinds, most, leaseSeconds, refusedThisRound)

  async function claimNew(most: number): Promise<ClaimedMail[]> {
    for (const kind of mailKinds) {
      const limit = Math.min(most, limitNow(kind))
      const mails = limit > 0 ? await claimUntried(db, kind, limit, leaseSeconds, refusedThisRound) : []
      count += mails.length * receiversOf(kind, budget)
      if (mails.length > 0) return mails
    }
    return []
  }

  return {
    lease: 'mail sender',
    parallel: PARALLEL,
    turns: mailer.turns,
    async prepare(isUpkeep) {
      if (isUpkeep) await withholdOld(db, mailKinds, env.MAIL_MAX_AGE_DAYS)
      count = await readCount(db, budget)
      if (limitNow('Notice') === 0) await withholdNotices(db)
      if (limitNow('Summary') > 0) await writeSummaryIfDue(isUpkeep)
    },
    async claim(most) {
      takesRetriesFirst = !takesRetriesFirst // by turns, so that mails which fail for hours do not hold up new ones
      const [first, second] = takesRetriesFirst ? [claimRetries, claimNew] : [claimNew, claimRetries]
      let mails = await first(most)
      if (mails.length === 0) mails = await second(most)
      if (mails.length === 0) refusedThisRound.clear()
      return mails
    },
    async attempt(mail, signal) {
      const message = writeMessage(mail, staffEmails, publicUrl)
      if (!message) return withheld('Not sent: what it was about was erased.')
      if (Number(mail.triedHoursAgo) > KEY_LIFETIME_HOURS) return { status: 'Unknown', lastError: KEY_EXPIRED }
      const reason = kinds[mail.kind].to === 'visitor' && (await readWithholdReason(db, mail))
      if (reason) return withheld(`${mail.triedAtUnclaimed ? NOT_SENT_AGAIN : 'Not sent'}: ${reason}.`)
      const result = await mailer.send(message, signal)
      if (result.isRefused) refusedThisRound.add(mail.id)
      // Anybody can type an address: nobody need do anything about one that does not exist.
      if (mail.kind === 'Confirmation' && result.status === 'Failed')
        return withheld(`Resend refuses the address: ${result.lastError}`)
      return { ...result, dueInMs: backOffMs(mail.attempts, env.MAIL_RETRY_SECONDS) }
    },
    logResult({ id, kind, attempts }, { status, lastError }) {
      if (!lastError || status === 'Withheld') return
      const reason = lastError.split(':')[0]
      const fields = { mail: id, kind, attempt: attempts, state: status, reason }
      const isLost = kinds[kind].to === 'staff' && status !== 'Pending'
      // Sent with a lastError: one of several receivers was refused.
      if (status === 'Sent') log.error(fields, 'a mail was refused for one of its receivers: correct STAFF_EMAILS')
      else if (isLost || lastError.includes('monthly_quota_exceeded'))
        log.error(fields, `a mail was not sent, and staff may not know of an enquiry: see ${staffCommand('mails')}`)
      else log.warn(fields, 'a mail was not sent')
    },
  }
}

function withheld(lastError: string): Result {
  return { status: 'Withheld', lastError, isTryUndone: true }
}

/**
 * Why this mail to a visitor is not to be sent, if so. A mailbox gets three in 24 hours, so that nobody can flood it through
 * our forms. Counted are its mails that are no longer Pending, and Pending ones that were first tried before this one, so that
 * of several under way at once the earliest three go out.
 */
export async function readWithholdReason(db: Db, mail: StoredMail): Promise<string | undefined> {
  const { id, mailbox, triedAt, enquiry, subscriber } = mail
  if (enquiry?.suspectedSpam) return 'suspected spam' // stored as SPAM_REASONS.Acknowledgement, by which `mails retry` finds it
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
