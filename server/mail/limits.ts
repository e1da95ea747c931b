import type { Db } from '../database/database.ts'
import type { Enquiry } from '../enquiries/enquiry.ts'
import type { MailKind } from './claims.ts'

const ACKNOWLEDGEMENTS_A_DAY = 3
const SPAM_NOTICES_A_DAY = 20

/**
 * Guards against the misuse of our mails: nobody can flood an address, or our staff, through the form.
 * @returns why a mail about this enquiry is not to be sent, or undefined
 */
export async function withholdReason(db: Db, kind: MailKind, enquiry: Enquiry): Promise<string | undefined> {
  if (kind === 'Acknowledgement' && (await earlierFrom(db, enquiry)) >= ACKNOWLEDGEMENTS_A_DAY)
    return `Not sent: this address has had ${ACKNOWLEDGEMENTS_A_DAY} acknowledgements within 24 hours.`
  if (kind === 'Staff' && enquiry.suspectedSpam && (await earlierSpam(db, enquiry)) >= SPAM_NOTICES_A_DAY)
    return `Not sent: ${SPAM_NOTICES_A_DAY} notices of suspected spam have gone out within 24 hours.`
  return undefined
}

/**
 * How many enquiries of the same mailbox came in the 24 hours before this one, as far as the limit asks. Suspected
 * spam got no acknowledgement, and would use up those of the person in whose name it came.
 */
async function earlierFrom(db: Db, { id, email, receivedAt }: Enquiry): Promise<number> {
  const [row] = await db.$queryRaw<{ earlier: number }[]>`
    SELECT count(*)::int AS "earlier" FROM (
      SELECT FROM "Quvera_Form"
      WHERE "Quvera_mailbox"("Email") = "Quvera_mailbox"(${email}) AND NOT "SuspectedSpam"
        AND "ReceivedAt" BETWEEN ${receivedAt}::timestamptz - interval '24 hours' AND ${receivedAt}::timestamptz
        AND ("ReceivedAt", "Id") < (${receivedAt}::timestamptz, ${id}::uuid)
      LIMIT ${ACKNOWLEDGEMENTS_A_DAY}
    ) same_mailbox`
  return row?.earlier ?? 0
}

/** How many enquiries in the 24 hours before this one were marked as spam, as far as the limit asks. */
async function earlierSpam(db: Db, { id, receivedAt }: Enquiry): Promise<number> {
  const [row] = await db.$queryRaw<{ earlier: number }[]>`
    SELECT count(*)::int AS "earlier" FROM (
      SELECT FROM "Quvera_Form"
      WHERE "SuspectedSpam"
        AND (CASE WHEN "SuspectedSpam" THEN "ReceivedAt" END)
          BETWEEN ${receivedAt}::timestamptz - interval '24 hours' AND ${receivedAt}::timestamptz
        AND ("ReceivedAt", "Id") < (${receivedAt}::timestamptz, ${id}::uuid)
      LIMIT ${SPAM_NOTICES_A_DAY}
    ) spam`
  return row?.earlier ?? 0
}

/** What nobody tried to send for so long is not sent any more: a trial's mails, when a key is set one day. */
export async function withholdOld(db: Db, maxAgeDays: number): Promise<number> {
  const reason = `Not sent: the enquiry is more than ${maxAgeDays} days old.`
  return db.$executeRaw`
    UPDATE "Quvera_Mail" mail SET "Status" = 'Withheld', "LastError" = ${reason}
    FROM "Quvera_Form" form
    WHERE form."Id" = mail."EnquiryId" AND mail."Status" = 'Pending' AND mail."AmbiguousAt" IS NULL
      AND form."ReceivedAt" < now() - make_interval(days => ${maxAgeDays})`
}
