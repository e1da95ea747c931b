import type { Db } from '../database/database.ts'
import type { StoredMail } from './queue.ts'

const MAILS_A_DAY = 3

/**
 * Why this mail to a visitor is not to be sent, if so. A mailbox gets three mails in 24 hours, so that nobody can flood it
 * through our forms. Counted are enquiries that came before this one, and confirmations whose try began before this one.
 * Suspected spam gets no acknowledgement, so it does not use up those of the person in whose name it came.
 */
export async function readWithholdReason(db: Db, mail: StoredMail): Promise<string | undefined> {
  const { id, enquiry, subscriber } = mail
  if (enquiry?.suspectedSpam) return 'Not sent: suspected spam.'
  if (subscriber?.confirmedAt) return 'Not sent: the address is confirmed.'
  const receiver = enquiry ?? subscriber
  if (!receiver) return undefined
  const [row] = await db.$queryRaw<[{ earlier: number; hasEnded: boolean }]>`
    SELECT (${subscriber?.endsAt ?? null}::timestamptz < now()) IS TRUE AS "hasEnded", (
      SELECT count(*)::int FROM (
        (SELECT FROM "Quvera_Form", (SELECT coalesce(${enquiry?.receivedAt ?? null}::timestamptz, now()) AS "at") AS here
          WHERE "Quvera_mailbox"("Email") = "Quvera_mailbox"(${receiver.email}) AND NOT "SuspectedSpam"
            AND "ReceivedAt" BETWEEN here."at" - interval '24 hours' AND here."at"
            AND ("ReceivedAt", "Id") < (here."at", ${receiver.id}::uuid)
          LIMIT ${MAILS_A_DAY})
        UNION ALL
        (SELECT FROM "Quvera_Subscriber" subscriber JOIN "Quvera_Mail" mail ON mail."SubscriberId" = subscriber."Id"
          WHERE "Quvera_mailbox"("Email") = "Quvera_mailbox"(${receiver.email}) AND mail."TriedAt" > now() - interval '24 hours'
            AND mail."Id" <> ${id}
            AND (mail."Status" <> 'Pending' OR (mail."TriedAt", mail."Id") < (${mail.triedAt}::timestamptz, ${id}))
          LIMIT ${MAILS_A_DAY})
      ) same_mailbox) AS "earlier"`
  if (row.hasEnded) return 'Not sent: the subscription has ended.'
  const isFull = row.earlier >= MAILS_A_DAY
  return isFull
    ? `Not sent: this address has had ${MAILS_A_DAY} acknowledgements or confirmations within 24 hours.`
    : undefined
}
