import { randomInt, randomUUIDv7 } from 'node:crypto'
import { brand } from '../../shared/brand.ts'
import { type Order, PRIVACY_NOTICE_VERSION } from '../../shared/order.ts'
import type { Db } from '../database/database.ts'
import { columns, enquiryFields } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import type { Env } from '../env.ts'

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
/** In a text. */
export const REFERENCE = new RegExp(`[A-Z]{1,5}-[${ALPHABET}]{6}`)

export function createReference(): string {
  const code = Array.from({ length: 6 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  // Digits alone would be taken for a part of a phone number.
  return /[A-Z]/.test(code) ? `${brand.referencePrefix}-${code}` : createReference()
}

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
 * or reference is stored already is left out. Suspected spam gets no mails: a summary tells staff of it.
 * @returns the ids of the enquiries that were stored
 */
export async function insertEnquiries(
  db: Pick<Db, '$queryRaw'>,
  rows: InsertRow[],
  recipients: Recipients,
): Promise<Set<string>> {
  // Sorted, so that two statements with the same keys cannot deadlock.
  const sorted = rows.toSorted((a, b) => (a.SubmissionKey < b.SubmissionKey ? -1 : 1))
  const names = columnList(Object.keys(rows[0] ?? {}))
  // JSON and not arrays: PostgreSQL plans a statement anew for each length of an array.
  const [{ ids }] = await db.$queryRaw<[{ ids: string[] }]>`
    WITH form AS (
      INSERT INTO "Quvera_Form" (${names}, "UntoldSince")
      SELECT ${names}, CASE WHEN "SuspectedSpam" THEN now() END
      FROM json_populate_recordset(NULL::"Quvera_Form", ${JSON.stringify(sorted)}::json)
      ON CONFLICT DO NOTHING
      RETURNING "Id", "Email", "SuspectedSpam"
    ), mails AS (${insertMails(recipients)})
    SELECT coalesce(array_agg("Id"::text), '{}') AS "ids" FROM form`
  return new Set(ids)
}

/** Inserts the mails of the enquiries in `form`: a notice for each of staff, an acknowledgement and a post. */
function insertMails({ staff, withPosts }: Recipients): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "To", "Mailbox")
    SELECT "Id", "Kind", "To", CASE "Kind" WHEN 'Acknowledgement' THEN "Quvera_mailbox"("Email") END
    FROM form CROSS JOIN (
      SELECT 'Notice'::"Quvera_MailKind" AS "Kind", "To" FROM unnest(${staff}::text[]) AS "To"
      UNION ALL SELECT 'Acknowledgement', NULL
      UNION ALL SELECT 'Post', NULL WHERE ${withPosts}
    ) mails WHERE NOT "SuspectedSpam"`
}

/** Marks an enquiry as spam and withholds its pending mails. @returns whether it was not marked before */
export async function markSpam(db: Pick<Db, '$queryRaw'>, id: string): Promise<boolean> {
  const marked = await db.$queryRaw<unknown[]>`
    WITH form AS (
      UPDATE "Quvera_Form" SET "SuspectedSpam" = TRUE WHERE "Id" = ${id}::uuid AND NOT "SuspectedSpam" RETURNING "Id"
    ), mails AS (
      UPDATE "Quvera_Mail" SET "Status" = 'Withheld', "WithheldBecause" = 'ByStaff', "DueAt" = NULL
      WHERE "EnquiryId" IN (SELECT "Id" FROM form) AND "Status" = 'Pending'
    )
    SELECT "Id"::text FROM form`
  // At the end of that statement the trigger of Quvera_Mail has set it, as no notice is on its way. But staff know of it.
  await db.$queryRaw`UPDATE "Quvera_Form" SET "UntoldSince" = NULL WHERE "Id" = ${id}::uuid AND "SuspectedSpam" RETURNING "Id"`
  return marked.length > 0
}

/**
 * Takes the mark off and writes the mails that an order gets, each once: those that exist stay as they are, but those that
 * were withheld because of the mark are pending again. @returns whether it was marked before
 */
export async function releaseSpam(db: Pick<Db, '$queryRaw'>, id: string, recipients: Recipients): Promise<boolean> {
  const released = await db.$queryRaw<unknown[]>`
    WITH form AS (
      UPDATE "Quvera_Form" form SET "SuspectedSpam" = FALSE,
        -- This statement inserts notices if there are none yet. Else the trigger of Quvera_Mail has the say.
        "UntoldSince" = CASE WHEN EXISTS (SELECT FROM "Quvera_Mail" WHERE "EnquiryId" = form."Id" AND "Kind" = 'Notice')
          THEN "UntoldSince" END
      WHERE "Id" = ${id}::uuid AND "SuspectedSpam" RETURNING "Id", "Email", "SuspectedSpam"
    ), again AS (
      UPDATE "Quvera_Mail" SET "Status" = 'Pending', "WithheldBecause" = NULL, "QueuedAt" = now(), "DueAt" = now()
      WHERE "EnquiryId" IN (SELECT "Id" FROM form) AND "WithheldBecause" = 'ByStaff'
    ), mails AS (${insertMails(recipients)} ON CONFLICT DO NOTHING)
    SELECT "Id"::text FROM form`
  return released.length > 0
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
