import type { Db } from '../database/database.ts'
import type { StoredMail } from './queue.ts'

const MAILS_A_DAY = 3

/**
 * Why this mail to a visitor is not to be sent, if so. A mailbox gets three mails in 24 hours, so that nobody can flood it
 * through our forms. It counts the mails that were tried in the last 24 hours. Of two that are being sent at the same time
 * only the later one counts the other, so exactly one of them passes.
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
  if (others < MAILS_A_DAY) return undefined
  return `this address has had ${MAILS_A_DAY} acknowledgements or confirmations within 24 hours`
}
