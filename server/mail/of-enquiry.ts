import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { Env } from '../env.ts'

/* The mails of an enquiry: written with it, withheld when staff mark it as spam, and written when they take the mark off. */

/** Who is told of an enquiry. */
export interface Recipients {
  /** STAFF_EMAILS: each gets a notice. */
  staff: string[]
  /** Whether NOTIFY_URL gets a webhook post. */
  withPosts: boolean
}

export function recipientsOf({ STAFF_EMAILS, NOTIFY_URL }: Pick<Env, 'STAFF_EMAILS' | 'NOTIFY_URL'>): Recipients {
  return { staff: STAFF_EMAILS, withPosts: Boolean(NOTIFY_URL) }
}

/**
 * Inserts the mails of the enquiries in `form`: a notice for each of staff, an acknowledgement and a post. Suspected spam gets
 * none. A part of a statement, which writes the enquiry and its mails together; it ends in a condition, to which a caller may add.
 */
export function insertMails({ staff, withPosts }: Recipients): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "To", "Mailbox")
    SELECT "Id", "Kind", "To", CASE "Kind" WHEN 'Acknowledgement' THEN "Quvera_mailbox"("Email") END
    FROM form CROSS JOIN (
      SELECT 'Notice'::"Quvera_MailKind" AS "Kind", "To" FROM unnest(${staff}::text[]) AS "To"
      UNION ALL SELECT 'Acknowledgement', NULL
      UNION ALL SELECT 'Post', NULL WHERE ${withPosts}
    ) mails WHERE NOT "SuspectedSpam"`
}

/** Those of an order. Others of an enquiry tell of what somebody has done with it. */
const OF_ORDER = Prisma.sql`"Kind" IN ('Notice', 'Acknowledgement', 'Post')`

/** Of an enquiry that staff mark as spam. */
export async function withholdMails(db: Pick<Db, '$executeRaw'>, id: string): Promise<void> {
  await db.$executeRaw`
    UPDATE "Quvera_Mail" SET "Status" = 'Withheld', "WithheldBecause" = 'ByStaff', "DueAt" = NULL
    WHERE "EnquiryId" = ${id}::uuid AND "Status" = 'Pending' AND ${OF_ORDER}`
}

/**
 * Of an enquiry from which staff take the mark. Mails that were withheld because of it are pending again; one that never had
 * mails gets those of an order. After two days no acknowledgement: the visitor has waited for a call, not for a receipt.
 * @param dueInSeconds time to take it back
 */
export async function releaseMails(
  db: Pick<Db, '$executeRaw'>,
  id: string,
  recipients: Recipients,
  dueInSeconds: number,
): Promise<void> {
  const isLate = Prisma.sql`("Kind" = 'Acknowledgement' AND (SELECT "ReceivedAt" FROM "Quvera_Form" WHERE "Id" = ${id}::uuid) < now() - interval '48 hours')`
  await db.$executeRaw`
    WITH form AS (SELECT "Id", "Email", FALSE AS "SuspectedSpam" FROM "Quvera_Form" WHERE "Id" = ${id}::uuid)
    ${insertMails(recipients)} AND NOT ${isLate} AND NOT EXISTS (SELECT FROM "Quvera_Mail" WHERE "EnquiryId" = form."Id" AND ${OF_ORDER})`
  await db.$executeRaw`
    UPDATE "Quvera_Mail" SET "Status" = 'Pending', "WithheldBecause" = NULL, "QueuedAt" = now(), "DueAt" = now() + make_interval(secs => ${dueInSeconds})
    WHERE "EnquiryId" = ${id}::uuid AND ("WithheldBecause" = 'ByStaff' OR "Status" = 'Pending' AND "QueuedAt" = now()::timestamptz(3)) AND ${OF_ORDER} AND NOT ${isLate}`
}

/** Whether a mail of the order was tried since then. */
export async function wasTriedSince(db: Pick<Db, '$queryRaw'>, id: string, since: Date): Promise<boolean> {
  const tried = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM "Quvera_Mail" WHERE "EnquiryId" = ${id}::uuid AND "FirstTriedAt" >= ${since} AND ${OF_ORDER} LIMIT 1`
  return tried.length > 0
}

/**
 * The condition of an acknowledgement (`mail`) that went to an address which was corrected since, or was refused there: the newest of its
 * enquiry, after which another one may be queued.
 */
export const MAY_GO_TO_CORRECTED = Prisma.sql`(mail."Kind" = 'Acknowledgement' AND mail."Status" NOT IN ('Pending', 'Withheld')
  AND NOT EXISTS (SELECT FROM "Quvera_Mail" newer
    WHERE newer."EnquiryId" = mail."EnquiryId" AND newer."Kind" = 'Acknowledgement' AND newer."Id" > mail."Id")
  AND EXISTS (SELECT FROM "Quvera_Form" WHERE "Id" = mail."EnquiryId" AND NOT "SuspectedSpam" AND "Email" <> '')
  AND EXISTS (SELECT FROM "Quvera_History" WHERE "EnquiryId" = mail."EnquiryId" AND "After" ? 'Email' AND "At" > mail."QueuedAt"))`

/** Queues an acknowledgement to the corrected address, if this one went to an earlier one. @returns how many */
export function queueCorrectedAcknowledgement(db: Pick<Db, '$executeRaw'>, id: bigint): Promise<number> {
  return db.$executeRaw`
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Mailbox")
    SELECT "EnquiryId", 'Acknowledgement', "Quvera_mailbox"((SELECT "Email" FROM "Quvera_Form" WHERE "Id" = "EnquiryId"))
    FROM "Quvera_Mail" mail WHERE mail."Id" = ${id} AND ${MAY_GO_TO_CORRECTED}`
}

/** The condition of enquiries (`form`) that nobody has answered and whose acknowledgement did not arrive: to be rung. */
export const TO_RING = Prisma.sql`form."Status" = 'New' AND NOT form."SuspectedSpam" AND form."EraseAt" IS NULL
  AND form."Id" IN (SELECT "EnquiryId" FROM "Quvera_Mail"
    WHERE "Kind" = 'Acknowledgement' AND "Status" IN ('Bounced', 'Failed', 'Complained'))`

/** Changes in 24 hours, by all visitors, of which staff get a mail. A summary tells of the rest. */
const CHANGES_A_DAY = 10
/** Erasures are told beyond that: as many as are carried out. */
const ERASURES_A_DAY = 50

/** Tells all of staff that the visitor has changed something, unless a mail about it is still to be sent. */
export async function queueChange(db: Pick<Db, '$executeRaw'>, id: string, staff: string[]): Promise<void> {
  await queueChangeIf(db, id, staff, Prisma.sql`NOT form."SuspectedSpam" AND ${changesOfADay} < ${CHANGES_A_DAY}`)
}

/** Tells all of staff, and the visitor, that somebody asks to erase the enquiry. */
export async function tellOfErasure(
  db: Pick<Db, '$executeRaw'>,
  id: string,
  isAsked: boolean,
  staff: string[],
): Promise<void> {
  if (!isAsked) {
    await db.$executeRaw`
      UPDATE "Quvera_Mail" SET "Status" = 'Withheld', "WithheldBecause" = 'TooOld', "DueAt" = NULL
      WHERE "EnquiryId" = ${id}::uuid AND "Kind" = 'ErasureAsked' AND "Status" = 'Pending' AND "FirstTriedAt" IS NULL`
    return
  }
  await queueChangeIf(db, id, staff, Prisma.sql`${changesOfADay} < ${ERASURES_A_DAY}`)
  await queueToVisitor(db, id, 'ErasureAsked')
}

/** Not of suspected spam, nor of an enquiry by phone without an address. */
async function queueToVisitor(db: Pick<Db, '$executeRaw'>, id: string, kind: 'Acknowledgement' | 'ErasureAsked') {
  await db.$executeRaw`
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Mailbox")
    SELECT "Id", ${kind}::"Quvera_MailKind", "Quvera_mailbox"("Email") FROM "Quvera_Form"
    WHERE "Id" = ${id}::uuid AND NOT "SuspectedSpam" AND "Email" <> ''`
}

/** By way of the history, which has an index by time. */
const changesOfADay = Prisma.sql`(SELECT count(DISTINCT (mail."EnquiryId", mail."QueuedAt")) FROM "Quvera_Mail" mail
  WHERE mail."Kind" = 'Change' AND mail."QueuedAt" > now() - interval '24 hours' AND mail."EnquiryId" IN (
    SELECT "EnquiryId" FROM "Quvera_History" WHERE "At" > now() - interval '25 hours'))`

async function queueChangeIf(db: Pick<Db, '$executeRaw'>, id: string, staff: string[], condition: Prisma.Sql) {
  await db.$executeRaw`
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "To")
    SELECT form."Id", 'Change', "To" FROM "Quvera_Form" form CROSS JOIN unnest(${staff}::text[]) AS "To"
    WHERE form."Id" = ${id}::uuid AND ${condition} AND NOT EXISTS (SELECT FROM "Quvera_Mail" mail
      WHERE mail."EnquiryId" = form."Id" AND mail."Kind" = 'Change' AND mail."Status" = 'Pending' AND mail."FirstTriedAt" IS NULL)`
}

/** After the visitor has changed the address: what waited for the former one is withheld, and the new one gets an acknowledgement. */
export async function acknowledgeAnew(db: Pick<Db, '$executeRaw'>, id: string): Promise<void> {
  await db.$executeRaw`
    UPDATE "Quvera_Mail" SET "Status" = 'Withheld', "WithheldBecause" = 'NotTheirs', "DueAt" = NULL
    WHERE "EnquiryId" = ${id}::uuid AND "Status" = 'Pending' AND "Kind" IN ('Acknowledgement', 'ErasureAsked')`
  await queueToVisitor(db, id, 'Acknowledgement')
}
