import { randomInt, randomUUIDv7 } from 'node:crypto'
import { brand } from '../../shared/brand.ts'
import { type Order, PRIVACY_NOTICE_VERSION } from '../../shared/order.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { columns, enquiryFields } from './enquiry.ts'

/** An order that was filled in faster is suspected spam. */
export const MIN_FILL_MS = 250

function isSuspicious({ website, filledInMs = Number.POSITIVE_INFINITY }: Order): boolean {
  return Boolean(website?.trim()) || (filledInMs >= 0 && filledInMs < MIN_FILL_MS)
}

/** Without letters and digits that look alike. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const LETTERS_COUNT = 6
/** With any prefix: the brand may have had another one. */
export const REFERENCE_PATTERN = new RegExp(`^[A-Z]{1,5}-[${ALPHABET}]{${LETTERS_COUNT}}$`)

export function createReference(): string {
  const letters = Array.from({ length: LETTERS_COUNT }, () => ALPHABET[randomInt(ALPHABET.length)])
  return `${brand.referencePrefix}-${letters.join('')}`
}

/** Why the mails of suspected spam are withheld. */
export const SPAM_REASONS = {
  Notice: 'Not mailed alone: suspected spam.',
  Acknowledgement: 'Not sent: suspected spam.',
}

export type NewRow = ReturnType<typeof createRow>

/** A row for `Quvera_Form`, with a new id and reference. The property names are those of the columns. */
export function createRow(order: Order) {
  return {
    Id: randomUUIDv7(),
    Reference: createReference(),
    SuspectedSpam: isSuspicious(order),
    NoticeVersion: PRIVACY_NOTICE_VERSION,
    SubmissionKey: order.submissionKey,
    ...Object.fromEntries(enquiryFields.map((field) => [columns[field], order[field]])),
  }
}

/**
 * Inserts rows and their pending mails in one statement: five times the rate of Prisma's creates. A row whose key or
 * reference exists is left out. The mails of suspected spam are withheld; the notice waits for a summary.
 * @returns the ids of the rows that were left out
 */
export async function insertEnquiries(
  db: Pick<Db, '$queryRaw'>,
  rows: NewRow[],
  { withPosts }: { withPosts: boolean },
): Promise<string[]> {
  // Sorted, so that two statements with the same keys cannot deadlock.
  const sorted = rows.toSorted((a, b) => (a.SubmissionKey < b.SubmissionKey ? -1 : 1))
  const names = columnList(Object.keys(rows[0] ?? {}))
  // JSON and not arrays: PostgreSQL plans a statement anew for each length of an array.
  const [{ stored }] = await db.$queryRaw<[{ stored: string[] | null }]>`
    WITH form AS (
      INSERT INTO "Quvera_Form" (${names})
      SELECT ${names} FROM json_populate_recordset(NULL::"Quvera_Form", ${JSON.stringify(sorted)}::json)
      ON CONFLICT DO NOTHING
      RETURNING "Id", "Email", "SuspectedSpam"
    ), wanted AS (
      SELECT "Kind" FROM (VALUES ('Notice'::"Quvera_MailKind"), ('Acknowledgement'), ('Post')) AS mails ("Kind")
      WHERE "Kind" <> 'Post' OR ${withPosts}
    ), mails AS (
      INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Status", "DueAt", "LastError", "Mailbox")
      SELECT "Id", "Kind",
        CASE WHEN "IsWithheld" THEN 'Withheld'::"Quvera_MailStatus" ELSE 'Pending' END,
        CASE WHEN NOT "IsWithheld" OR "Kind" = 'Notice' THEN now() END,
        CASE WHEN "IsWithheld" THEN CASE "Kind" WHEN 'Notice' THEN ${SPAM_REASONS.Notice} ELSE ${SPAM_REASONS.Acknowledgement} END END,
        CASE "Kind" WHEN 'Acknowledgement' THEN "Quvera_mailbox"("Email") END
      FROM (SELECT *, "SuspectedSpam" AND "Kind" <> 'Post' AS "IsWithheld" FROM form CROSS JOIN wanted) each
    )
    SELECT CASE WHEN count(*) < ${rows.length}::int THEN coalesce(array_agg("Id"::text), '{}') END AS "stored" FROM form` // null: all were stored
  return stored === null ? [] : rows.map(({ Id }) => Id).filter((id) => !stored.includes(id))
}

/** An enquiry with the same fields that has this row's key or was received in the last ten minutes. */
export async function findEqualEnquiry(
  db: Pick<Db, '$queryRaw'>,
  row: NewRow,
): Promise<{ reference: string } | undefined> {
  const names = columnList(Object.values(columns))
  const [equal] = await db.$queryRaw<{ reference: string }[]>`
    SELECT "Reference" AS "reference" FROM "Quvera_Form"
    WHERE ("SubmissionKey" = ${row.SubmissionKey}::uuid OR "ReceivedAt" > now() - interval '10 minutes')
      AND (${names}) = (SELECT ${names} FROM json_populate_record(NULL::"Quvera_Form", ${JSON.stringify(row)}::json))
    ORDER BY "ReceivedAt" LIMIT 1`
  return equal
}

function columnList(names: string[]) {
  return Prisma.raw(names.map((name) => `"${name}"`).join(', '))
}
