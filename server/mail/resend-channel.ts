import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import type { WithheldBecause } from '../database/generated/enums.ts'
import { historyFacts, readHistory } from '../database/history.ts'
import type { Env } from '../env.ts'
import { staffCommand } from '../staff-command.ts'
import { hasBudget, kinds, kindsToStaff, queuedKinds, readCount, type StoredMail, writeMessage } from './kinds.ts'
import { MAILS_OF_ERASURES } from './of-enquiry.ts'
import { claimNext, retryNotTaken, withholdNotices, withholdStale } from './queue.ts'
import { createMailer, type Message } from './resend.ts'
import type { Channel } from './sender.ts'

/** Resend remembers a key for 24 hours; an hour is left for clocks that differ and for the try itself. */
const KEY_LIFETIME_HOURS = 23
const MAILS_A_DAY_TO_A_MAILBOX = 3
const ERASURE_MAILS_TO_A_MAILBOX = 10
const KEY_EXPIRED = 'an earlier try may have sent this mail; too long ago to try again without a second copy'

type Log = Pick<Logger, 'error' | 'warn'>

/** @param writeSummaryIfDue runs at each poll while the budget has room for a summary */
export function createResendChannel(db: Db, env: Env, log: Log, writeSummaryIfDue: () => Promise<void>): Channel {
  const { STAFF_EMAILS: staff, PUBLIC_URL: publicUrl, MAIL_DAILY_BUDGET: budget } = env
  const mailer = createMailer(env)
  /** Mails that were tried in 24 hours. */
  let count = 0
  let isFirst = true
  const sendable = queuedKinds.filter((kind) => publicUrl || !kinds[kind].needsPublicUrl)

  return {
    lease: 'mail sender',
    retrySeconds: env.MAIL_RETRY_SECONDS,
    intervalMs: mailer.intervalMs,
    async prepare(isUpkeep) {
      if (isFirst) await retryNotTaken(db) // a larger plan may be why the site was started again
      isFirst = false
      if (isUpkeep) await withholdStale(db, env)
      count = budget === 0 ? 0 : await readCount(db)
      if (!hasBudget('Notice', budget, count)) await withholdNotices(db)
      if (hasBudget('Summary', budget, count)) await writeSummaryIfDue()
    },
    async claim(isProbing) {
      const open = sendable.filter((kind) => hasBudget(kind, budget, count))
      const mail = await claimNext(db, { of: sendable, open, staff, isProbing, claimSeconds: env.MAIL_LEASE_SECONDS })
      if (mail && !mail.triedBeforeAt) count++
      return mail
    },
    async attempt(mail, signal) {
      if ((mail.triedHoursAgo ?? 0) > KEY_LIFETIME_HOURS) return { is: 'unknown', error: KEY_EXPIRED }
      const because = mail.mailbox && (await readReasonToWithhold(db, mail))
      if (because) return { is: 'withheld', because }
      let message: Message
      try {
        message = writeMessage(mail, publicUrl)
      } catch (err) {
        log.error({ mail: mail.id, err }, 'the text of a mail cannot be written')
        return { is: 'refused', error: 'its text cannot be written: see the log' } // otherwise it would be tried for ever
      }
      return mailer.send(message, signal)
    },
    /** Without personal data: the texts of Resend may hold addresses. */
    logAnswer({ id, kind, attempts }, answer) {
      if (answer.is === 'taken' || answer.is === 'withheld') return
      const fields = { mail: id, kind, attempt: attempts, answer: answer.is, reason: answer.error.split(':')[0] }
      const isLost = kindsToStaff.includes(kind) && (answer.is === 'refused' || answer.is === 'unknown')
      if (isLost || answer.error.includes('monthly_quota_exceeded'))
        log.error(fields, `a mail was not sent, and somebody has to act: see ${staffCommand('mails')}`)
      else log.warn(fields, 'a mail was not sent')
    },
  }
}

/**
 * Why this mail to a visitor or subscriber is not to be sent, if so. A mailbox gets three in 24 hours, so that nobody can flood
 * it through our forms. Counted are its mails that were tried; as one is tried at a time, those were tried before this one. Those
 * about erasures have limits of their own, three of an enquiry and ten in all, and count for the others, too: no other mail
 * keeps somebody from learning of one.
 */
async function readReasonToWithhold(db: Db, mail: StoredMail): Promise<WithheldBecause | undefined> {
  const { id, kind, mailbox, enquiry, subscriber } = mail
  const [tried] = await db.$queryRaw<[{ all: number; ofErasures: number; ofThisErasure: number; now: Date }]>`
    SELECT count(*)::int AS "all", count(*) FILTER (WHERE "Kind" = 'ErasureAsked')::int AS "ofErasures",
      count(*) FILTER (WHERE "Kind" = 'ErasureAsked' AND "EnquiryId" = ${enquiry?.id ?? null}::uuid)::int AS "ofThisErasure",
      now() AS "now"
    FROM "Quvera_Mail" WHERE "Mailbox" = ${mailbox} AND "Id" <> ${id}
      AND "FirstTriedAt" BETWEEN now() - interval '24 hours' AND now()`
  if (enquiry?.suspectedSpam) return 'ByStaff'
  if (subscriber?.confirmedAt || (subscriber?.endsAt && subscriber.endsAt < tried.now)) return 'Ended'
  const entries = enquiry && (await readHistory(db, [enquiry.id])).get(enquiry.id)
  if (entries && historyFacts(entries, tried.now).isNotTheirs) return 'NotTheirs'
  const { holdsWhile } = kinds[kind]
  if (enquiry && holdsWhile && !holdsWhile(enquiry)) return 'Kept'
  const isTooOften =
    kind === 'ErasureAsked'
      ? tried.ofErasures >= ERASURE_MAILS_TO_A_MAILBOX || tried.ofThisErasure >= MAILS_OF_ERASURES
      : tried.all >= MAILS_A_DAY_TO_A_MAILBOX
  return isTooOften ? 'ThreeADay' : undefined
}
