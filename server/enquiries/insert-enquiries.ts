import { randomInt, randomUUIDv7 } from 'node:crypto'
import { brand } from '../../shared/brand.ts'
import { type Order, PRIVACY_NOTICE_VERSION } from '../../shared/order.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { columns, enquiryFields } from './enquiry.ts'

/** An order that was filled in faster is suspected spam. */
export const MIN_FILL_MS = 250

/** Only a suspicion, because browsers may fill in the hidden field for a person: the enquiry is stored and staff see it. */
function isSuspectedSpam({ website, filledInMs = Number.POSITIVE_INFINITY }: Order): boolean {
  return Boolean(website?.trim()) || (filledInMs >= 0 && filledInMs < MIN_FILL_MS)
}

/** Letters and digits that do not look alike. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
/** With any prefix: the brand may have had another one. */
export const REFERENCE_PATTERN = new RegExp(`^[A-Z]{1,5}-[${ALPHABET}]{6}$`)

export function createReference(): string {
  const code = Array.from({ length: 6 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  // Staff commands take digits alone for the number of a mail.
  return /[A-Z]/.test(code) ? `${brand.referencePrefix}-${code}` : createReference()
}

/** Why the mails of suspected spam are withheld. */
export const SPAM_REASONS = {
  Notice: 'Not mailed alone: suspected spam.',
  Acknowledgement: 'Not sent: suspected spam.',
  /** Given by webhook-posts.ts. */
  Post: 'Not posted: suspected spam.',
}

export type InsertRow = ReturnType<typeof toInsertRow>

/** A row for `Quvera_Form`, with a new id and reference. The property names are those of the columns. */
export function toInsertRow(order: Order) {
  return {
    Id: randomUUIDv7(),
    Reference: createReference(),
    SuspectedSpam: isSuspectedSpam(order),
    NoticeVersion: PRIVACY_NOTICE_VERSION,
    SubmissionKey: order.submissionKey,
    ...Object.fromEntries(enquiryFields.map((field) => [columns[field], order[field]])),
  }
}

/**
 * Inserts enquiries and their pending mails in one statement: five times the rate of Prisma's creates. An enquiry whose key
 * or reference is stored already is left out. The mails of suspected spam are withheld; the notice waits for a summary.
 * @returns the ids of the enquiries that were stored
 */
export async function insertEnquiries(
  db: Pick<Db, '$queryRaw'>,
  rows: InsertRow[],
  { withPosts }: { withPosts: boolean },
): Promise<Set<string>> {
  // Sorted, so that two statements with the same keys cannot deadlock.
  const sorted = rows.toSorted((a, b) => (a.SubmissionKey < b.SubmissionKey ? -1 : 1))
  const names = columnList(Object.keys(rows[0] ?? {}))
  // JSON and not arrays: PostgreSQL plans a statement anew for each length of an array.
  const [{ ids }] = await db.$queryRaw<[{ ids: string[] }]>`
    WITH form AS (
      INSERT INTO "Quvera_Form" (${names})
      SELECT ${names} FROM json_populate_recordset(NULL::"Quvera_Form", ${JSON.stringify(sorted)}::json)
      ON CONFLICT DO NOTHING
      RETURNING "Id", "Email", "SuspectedSpam"
    ), kinds AS ( -- a row for each mail that an enquiry gets
      SELECT * FROM (VALUES
        ('Notice'::"Quvera_MailKind", ${SPAM_REASONS.Notice}),
        ('Acknowledgement', ${SPAM_REASONS.Acknowledgement}),
        ('Post', NULL) -- webhook-posts.ts decides about suspected spam, by NOTIFY_FORMAT
      ) AS mails ("Kind", "SpamReason") WHERE "Kind" <> 'Post' OR ${withPosts}
    ), mails AS (
      INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Status", "DueAt", "LastError", "Mailbox")
      SELECT "Id", "Kind",
        CASE WHEN "WithheldBecause" IS NULL THEN 'Pending'::"Quvera_MailStatus" ELSE 'Withheld' END,
        -- Due now. Of withheld mails only the notice gets a time, because it waits for a summary.
        CASE WHEN "WithheldBecause" IS NULL OR "Kind" = 'Notice' THEN now() END,
        "WithheldBecause",
        CASE "Kind" WHEN 'Acknowledgement' THEN "Quvera_mailbox"("Email") END
      FROM (SELECT *, CASE WHEN "SuspectedSpam" THEN "SpamReason" END AS "WithheldBecause" FROM form CROSS JOIN kinds) each
    )
    SELECT coalesce(array_agg("Id"::text), '{}') AS "ids" FROM form`
  return new Set(ids)
}

/** Finds an enquiry with the same fields that has the same key or was received in the last ten minutes. */
export async function findEqualEnquiry(
  db: Pick<Db, '$queryRaw'>,
  row: InsertRow,
): Promise<{ id: string; reference: string } | undefined> {
  const names = columnList(Object.values(columns))
  const [equal] = await db.$queryRaw<{ id: string; reference: string }[]>`
    SELECT "Id"::text AS "id", "Reference" AS "reference" FROM "Quvera_Form"
    WHERE ("SubmissionKey" = ${row.SubmissionKey}::uuid OR "ReceivedAt" > now() - interval '10 minutes'
        AND "ReceivedAt" < clock_timestamp() + interval '1 second') -- not of a clock that was ahead; it is rounded to ms
      AND (${names}) = (SELECT ${names} FROM json_populate_record(NULL::"Quvera_Form", ${JSON.stringify(row)}::json))
    ORDER BY "ReceivedAt" LIMIT 1`
  return equal
}

function columnList(names: string[]) {
  return Prisma.raw(names.map((name) => `"${name}"`).join(', '))
}
