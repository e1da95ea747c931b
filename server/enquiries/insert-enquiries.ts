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

export interface NewEnquiry {
  row: ReturnType<typeof toRow>
  /** Keys under which the same order may be stored already. */
  contentKeys: string[]
}

/** The keys are the columns of `Quvera_Form`. */
export function toRow(order: Order) {
  return {
    Id: randomUUIDv7(),
    Reference: createReference(),
    SuspectedSpam: isSuspicious(order),
    NoticeVersion: PRIVACY_NOTICE_VERSION,
    SubmissionKey: order.submissionKey,
    ...Object.fromEntries(enquiryFields.map((field) => [columns[field], order[field]])),
  }
}

export type IsStored = (id: string) => boolean

/**
 * Writes enquiries and their pending mails in one statement: five times the rate of Prisma's creates. Those of
 * suspected spam are withheld; its notice waits for a summary. An enquiry is not stored if its key, its reference or one of its
 * `contentKeys` exists.
 */
export async function insertEnquiries(
  db: Pick<Db, '$queryRaw'>,
  enquiries: NewEnquiry[],
  { withPosts }: { withPosts: boolean },
): Promise<IsStored> {
  // Sorted, so that two statements with the same keys cannot deadlock.
  const rows = enquiries.map(({ row }) => row).toSorted((a, b) => (a.SubmissionKey < b.SubmissionKey ? -1 : 1))
  const names = Prisma.raw(JSON.stringify(Object.keys(rows[0] ?? {})).slice(1, -1))
  const contentKeys = enquiries.flatMap(({ row, contentKeys }) =>
    contentKeys.map((content) => ({ own: row.SubmissionKey, content })),
  )
  // JSON and not arrays: PostgreSQL plans a statement anew for each length of an array. A subquery for each key and no join:
  // while the table is small, a join would be planned as a full scan, and keep that plan.
  const [{ stored }] = await db.$queryRaw<[{ stored: string[] | null }]>`
    WITH form AS (
      INSERT INTO "Quvera_Form" (${names})
      SELECT ${names} FROM json_populate_recordset(NULL::"Quvera_Form", ${JSON.stringify(rows)}::json)
      WHERE "SubmissionKey" <> ALL (ARRAY(
        SELECT "own" FROM json_to_recordset(${JSON.stringify(contentKeys)}::json) AS content_keys ("own" uuid, "content" uuid)
        WHERE (SELECT "Id" FROM "Quvera_Form" WHERE "SubmissionKey" = "content") IS NOT NULL))
      ON CONFLICT DO NOTHING
      RETURNING "Id", "Email", "SuspectedSpam"
    ), wanted AS (
      SELECT "Kind" FROM (VALUES ('Staff'::"Quvera_MailKind"), ('Acknowledgement'), ('Post')) AS mails ("Kind")
      WHERE "Kind" <> 'Post' OR ${withPosts}
    ), mails AS (
      INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Status", "DueAt", "LastError", "Mailbox")
      SELECT "Id", "Kind",
        CASE WHEN "IsWithheld" THEN 'Withheld'::"Quvera_MailStatus" ELSE 'Pending' END,
        CASE WHEN NOT "IsWithheld" OR "Kind" = 'Staff' THEN now() END,
        CASE WHEN "IsWithheld" THEN CASE "Kind" WHEN 'Staff' THEN ${SPAM_REASONS.Notice} ELSE ${SPAM_REASONS.Acknowledgement} END END,
        CASE "Kind" WHEN 'Acknowledgement' THEN "Quvera_mailbox"("Email") END
      FROM (SELECT *, "SuspectedSpam" AND "Kind" <> 'Post' AS "IsWithheld" FROM form CROSS JOIN wanted) each
    )
    SELECT CASE WHEN count(*) < ${enquiries.length}::int THEN coalesce(array_agg("Id"::text), '{}') END AS "stored" FROM form` // null: all were stored
  return (id) => stored === null || stored.includes(id)
}
