import type { Db } from '../database/database.ts'
import { type Enquiry, toEnquiry } from '../enquiries/enquiry.ts'
import type { MailKind } from './mailer.ts'

/** A mail that this process may send now, until its lease is over. */
export interface ClaimedMail {
  id: bigint
  kind: MailKind
  attempts: number
  /** When the first try began whose outcome is not known, this one not counted. */
  ambiguousAt: Date | null
  enquiry: Enquiry
}

interface ClaimedRow extends Omit<ClaimedMail, 'enquiry'> {
  enquiryId: string
}

/** Takes up to `limit` due mails for `leaseSeconds`, by the database's clock. Every try counts as ambiguous until it is known not to be. */
export async function claimMails(db: Db, kind: MailKind, limit: number, leaseSeconds: number): Promise<ClaimedMail[]> {
  const mails = await db.$queryRaw<ClaimedRow[]>`
    UPDATE "Quvera_Mail" mail
    SET "Attempts" = mail."Attempts" + 1,
      "NextAttemptAt" = now() + make_interval(secs => ${leaseSeconds}),
      "AmbiguousAt" = coalesce(mail."AmbiguousAt", now())
    FROM (
      SELECT "Id", "AmbiguousAt" FROM "Quvera_Mail"
      WHERE "Status" = 'Pending' AND "Kind" = ${kind}::"Quvera_MailKind" AND "NextAttemptAt" <= now()
      ORDER BY "NextAttemptAt" LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ) due
    WHERE mail."Id" = due."Id"
    RETURNING mail."Id" AS "id", mail."EnquiryId" AS "enquiryId", mail."Kind"::text AS "kind",
      mail."Attempts" AS "attempts", due."AmbiguousAt" AS "ambiguousAt"`
  if (mails.length === 0) return []
  const enquiries = await db.enquiry.findMany({ where: { id: { in: mails.map(({ enquiryId }) => enquiryId) } } })
  const byId = new Map(enquiries.map((enquiry) => [enquiry.id, enquiry]))
  return mails.flatMap(({ enquiryId, ...mail }) => {
    const enquiry = byId.get(enquiryId)
    return enquiry ? [{ ...mail, enquiry: toEnquiry(enquiry) }] : [] // erased meanwhile, and its mails with it
  })
}

type Change = Parameters<Db['mail']['updateMany']>[0]['data']

/** Writes down an outcome, unless another worker has taken the mail over meanwhile: then its try counts. */
export async function recordOutcome(db: Db, mail: ClaimedMail, data: Change): Promise<void> {
  await db.mail.updateMany({ where: { id: mail.id, attempts: mail.attempts, status: 'Pending' }, data })
}
