import type { Db } from '../database/database.ts'
import { BY_PHONE } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind } from '../database/generated/enums.ts'
import type { Env } from '../env.ts'
import { kindsToVisitor } from './kinds.ts'
import { queueToVisitor, transition } from './queue.ts'

/*
 * The mails of an enquiry: written with it; withheld when it is marked as spam, and pending again when the mark is taken off; and
 * those that tell of a change, or of an erasure that somebody asks for.
 */

/** Who is told of an enquiry: each of staff by a notice, and NOTIFY_URL by a webhook post. */
export type Recipients = Pick<Env, 'STAFF_EMAILS' | 'NOTIFY_URL'>

/**
 * Inserts the mails of the enquiries in `form`: a notice for each of staff, an acknowledgement and a post. Suspected spam gets
 * none. A part of a statement, which writes the enquiry and its mails together; it ends in a condition, to which a caller may add.
 */
export function insertMails({ STAFF_EMAILS, NOTIFY_URL }: Recipients, dueInSeconds = 0): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "To", "Mailbox", "DueAt")
    SELECT "Id", "Kind", "To", CASE "Kind" WHEN 'Acknowledgement' THEN "Quvera_mailbox"("Email") END,
      now() + make_interval(secs => ${dueInSeconds})
    FROM form CROSS JOIN (
      SELECT 'Notice'::"Quvera_MailKind" AS "Kind", "To" FROM unnest(${STAFF_EMAILS}::text[]) AS "To"
      UNION ALL SELECT 'Acknowledgement', NULL
      UNION ALL SELECT 'Post', NULL WHERE ${Boolean(NOTIFY_URL)}
    ) mails WHERE NOT "SuspectedSpam"`
}

/** Others of an enquiry tell of what somebody has done with it. */
const kindsOfOrder: MailKind[] = ['Notice', 'Acknowledgement', 'Post']
const OF_ORDER = Prisma.sql`mail."Kind"::text = ANY(${kindsOfOrder}::text[])`

/** Of an enquiry that staff mark as spam. */
export async function withholdMails(db: Pick<Db, '$queryRaw'>, id: string): Promise<void> {
  await transition(db, 'Withheld', Prisma.sql`mail."EnquiryId" = ${id}::uuid AND ${OF_ORDER}`, { because: 'ByStaff' })
}

/**
 * Of an enquiry from which staff take the mark. Mails that were withheld because of it are pending again; one that never had
 * mails gets those of an order, unless somebody entered it by phone. After two days no acknowledgement: the visitor has waited
 * for a call, not for a receipt.
 * @param dueInSeconds time to take it back
 */
export async function releaseMails(
  db: Pick<Db, '$executeRaw'>,
  id: string,
  recipients: Recipients,
  dueInSeconds: number,
): Promise<void> {
  const isInTime = Prisma.sql`("Kind" <> 'Acknowledgement' OR form."ReceivedAt" > now() - interval '48 hours')`
  await db.$executeRaw`
    WITH form AS (SELECT "Id", "Email", "ReceivedAt", FALSE AS "SuspectedSpam" FROM "Quvera_Form"
      WHERE "Id" = ${id}::uuid AND "NoticeVersion" <> ${BY_PHONE})
    ${insertMails(recipients, dueInSeconds)} AND ${isInTime}
      AND NOT EXISTS (SELECT FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id" AND ${OF_ORDER})`
  await db.$executeRaw`
    UPDATE "Quvera_Mail" mail SET "Status" = 'Pending', "WithheldBecause" = NULL, "QueuedAt" = now(),
      "DueAt" = now() + make_interval(secs => ${dueInSeconds})
    FROM "Quvera_Form" form WHERE form."Id" = ${id}::uuid AND mail."EnquiryId" = form."Id"
      AND mail."WithheldBecause" = 'ByStaff' AND ${isInTime}`
  // The address may have been corrected while they were withheld.
  await redirectMails(db, id, { dueInSeconds, onlyOfOtherMailbox: true })
}

/** Whether a mail of the order was tried, or taken, since then: a try before the mark may have been unclear. */
export async function hasGoneOutSince(db: Pick<Db, 'mail'>, id: string, since: Date): Promise<boolean> {
  const ofOrder = { enquiryId: id, kind: { in: kindsOfOrder } }
  const isLater = { gte: since }
  return (await db.mail.count({ where: { ...ofOrder, OR: [{ firstTriedAt: isLater }, { sentAt: isLater }] } })) > 0
}

/** The condition of the last mail (`mail`) of its kind of an enquiry. */
export const IS_NEWEST = Prisma.sql`NOT EXISTS (SELECT FROM "Quvera_Mail" newer
  WHERE newer."EnquiryId" = mail."EnquiryId" AND newer."Kind" = mail."Kind" AND newer."Id" > mail."Id")`

/**
 * The condition of an acknowledgement (`mail`) of an enquiry whose address was corrected since it was queued: the newest of its
 * enquiry, after which another one may be queued. One that waits is none: it goes to the right address already.
 */
export const MAY_GO_TO_CORRECTED = Prisma.sql`(mail."Kind" = 'Acknowledgement' AND mail."Status" <> 'Pending'
  AND ${IS_NEWEST}
  AND EXISTS (SELECT FROM "Quvera_Form" WHERE "Id" = mail."EnquiryId" AND NOT "SuspectedSpam" AND "Email" <> '')
  AND EXISTS (SELECT FROM "Quvera_History" WHERE "EnquiryId" = mail."EnquiryId" AND "After" ? 'Email' AND "At" > mail."QueuedAt"))`

/** Queues an acknowledgement to the corrected address, unless one waits or has gone there. @returns how many */
export function acknowledgeAnew(db: Pick<Db, '$executeRaw'>, id: string): Promise<number> {
  const condition = Prisma.sql`EXISTS (SELECT FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id" AND ${MAY_GO_TO_CORRECTED})`
  return queueToVisitor(db, id, 'Acknowledgement', condition)
}

/**
 * After the address was corrected: what waits for the former one is withheld, and goes to the new one as another mail. A try may
 * have sent it already, so that it may not go out under its key with another receiver.
 */
export async function redirectMails(
  db: Pick<Db, '$executeRaw'>,
  id: string,
  { dueInSeconds = 0, onlyOfOtherMailbox = false } = {},
): Promise<void> {
  await db.$executeRaw`
    WITH former AS (
      UPDATE "Quvera_Mail" mail SET "Status" = 'Withheld', "WithheldBecause" = 'NotTheirs', "DueAt" = NULL
      FROM "Quvera_Form" form WHERE form."Id" = ${id}::uuid AND mail."EnquiryId" = form."Id" AND mail."Status" = 'Pending'
        AND mail."Kind"::text = ANY(${kindsToVisitor}::text[])
        AND (NOT ${onlyOfOtherMailbox}::boolean OR mail."Mailbox" <> "Quvera_mailbox"(form."Email"))
      RETURNING mail."EnquiryId", mail."Kind", form."Email"
    )
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Mailbox", "DueAt")
    SELECT "EnquiryId", "Kind", "Quvera_mailbox"("Email"), now() + make_interval(secs => ${dueInSeconds}) FROM former`
}

/** The condition of enquiries (`form`) that nobody has answered and whose acknowledgement may not have arrived: to be rung. */
export const TO_RING = Prisma.sql`form."Status" = 'New' AND NOT form."SuspectedSpam" AND form."EraseAt" IS NULL
  AND form."Id" IN (SELECT "EnquiryId" FROM "Quvera_Mail" mail
    WHERE "Kind" = 'Acknowledgement' AND "Status" IN ('Bounced', 'Failed', 'Complained', 'Unknown') AND ${IS_NEWEST})`

/** Mails about changes in 24 hours, to each of staff. A summary tells of the rest. */
const CHANGES_A_DAY = 10
/** While so many are to be erased: no more are in a day. A summary tells of the rest. */
const ERASURES_A_DAY = 50
/** About erasures of one enquiry, in a day. */
export const MAILS_OF_ERASURES = 3

/**
 * Tells all of staff that the visitor has changed something, or that somebody asks to erase the enquiry, unless a mail about it
 * is still to be sent.
 */
export async function queueChange(db: Pick<Db, '$executeRaw'>, id: string, staff: string[]): Promise<void> {
  // By way of the history, which has an index by time.
  const changes = Prisma.sql`(SELECT count(DISTINCT (mail."EnquiryId", mail."QueuedAt")) FROM "Quvera_Mail" mail
    WHERE mail."Kind" = 'Change' AND mail."QueuedAt" > now() - interval '24 hours' AND mail."EnquiryId" IN (
      SELECT "EnquiryId" FROM "Quvera_History" WHERE "At" > now() - interval '25 hours'))`
  const erasures = Prisma.sql`(SELECT count(*) FROM "Quvera_Form" WHERE "EraseAt" IS NOT NULL)`
  await db.$executeRaw`
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "To")
    SELECT form."Id", 'Change', "To" FROM "Quvera_Form" form CROSS JOIN unnest(${staff}::text[]) AS "To"
    WHERE form."Id" = ${id}::uuid AND CASE WHEN form."EraseAt" IS NULL
        THEN NOT form."SuspectedSpam" AND ${changes} < ${CHANGES_A_DAY} ELSE ${erasures} <= ${ERASURES_A_DAY} END
      AND NOT EXISTS (SELECT FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id" AND mail."Kind" = 'Change'
        AND mail."Status" = 'Pending' AND mail."FirstTriedAt" IS NULL)`
}

/** Tells all of staff, and the visitor, that somebody asks to erase the enquiry. Of suspected spam the visitor's waits for its release. */
export async function tellOfErasure(db: Pick<Db, '$executeRaw'>, id: string, staff: string[]): Promise<void> {
  await queueChange(db, id, staff)
  await queueToVisitor(db, id, 'ErasureAsked')
}

/** The enquiry is kept. Also what was tried is not tried again: it would be untrue. What a spam mark withholds is not released. */
export async function withholdErasureAsked(db: Pick<Db, '$queryRaw' | 'mail'>, id: string): Promise<void> {
  const isIt = Prisma.sql`mail."EnquiryId" = ${id}::uuid AND mail."Kind" = 'ErasureAsked'`
  await transition(db, 'Withheld', isIt, { because: 'Kept' })
  const ofSpam = { enquiryId: id, kind: 'ErasureAsked', withheldBecause: 'ByStaff' } as const
  await db.mail.updateMany({ where: ofSpam, data: { withheldBecause: 'Kept' } })
}
