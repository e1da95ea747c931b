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

/** Marks an enquiry as spam and withholds its pending mails. */
export async function markSpam(db: Pick<Db, '$executeRaw'>, id: string): Promise<void> {
  await db.$executeRaw`UPDATE "Quvera_Form" SET "SuspectedSpam" = TRUE WHERE "Id" = ${id}::uuid`
  await db.$executeRaw`
    UPDATE "Quvera_Mail" SET "Status" = 'Withheld', "WithheldBecause" = 'ByStaff', "DueAt" = NULL
    WHERE "EnquiryId" = ${id}::uuid AND "Status" = 'Pending'`
}

/**
 * Takes the mark off. Mails that were withheld because of it are pending again; an enquiry that never had mails gets those of
 * an order.
 */
export async function releaseSpam(db: Pick<Db, '$executeRaw'>, id: string, recipients: Recipients): Promise<void> {
  await db.$executeRaw`
    UPDATE "Quvera_Mail" SET "Status" = 'Pending', "WithheldBecause" = NULL, "QueuedAt" = now(), "DueAt" = now()
    WHERE "EnquiryId" = ${id}::uuid AND "WithheldBecause" = 'ByStaff'`
  await db.$executeRaw`
    WITH form AS (
      UPDATE "Quvera_Form" SET "SuspectedSpam" = FALSE WHERE "Id" = ${id}::uuid RETURNING "Id", "Email", "SuspectedSpam"
    ), mails AS (${insertMails(recipients)} AND NOT EXISTS (SELECT FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id"))
    SELECT FROM form`
}

/** The condition of enquiries (`form`) that nobody has answered and whose acknowledgement did not arrive: to be rung. */
export const TO_RING = Prisma.sql`form."Status" = 'New' AND NOT form."SuspectedSpam" AND form."EraseAt" IS NULL
  AND form."Id" IN (SELECT "EnquiryId" FROM "Quvera_Mail"
    WHERE "Kind" = 'Acknowledgement' AND "Status" IN ('Bounced', 'Failed', 'Complained'))`
