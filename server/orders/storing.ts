import { randomUUIDv7 } from 'node:crypto'
import { type Order, type OrderContent, PRIVACY_NOTICE_VERSION } from '../../shared/order.ts'
import type { Db } from '../database/database.ts'
import {
  columnsOf,
  createReference,
  type Enquiry,
  findWithSecret,
  hashContent,
  insertForm,
  readEnquiries,
} from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import { insertMails, type Recipients } from '../mail/of-enquiry.ts'

/* What stores and finds orders: all SQL of this room but that of the visitor's page. */

/** An order that was filled in faster is suspected spam. */
export const MIN_FILL_MS = 250

/** Only a suspicion, because browsers may fill in the hidden field for a person: the enquiry is stored and staff see it. */
function isSuspectedSpam({ website, filledInMs = Number.POSITIVE_INFINITY }: Order): boolean {
  return Boolean(website?.trim()) || (filledInMs >= 0 && filledInMs < MIN_FILL_MS)
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
    ContentHash: hashContent(order),
    ...columnsOf(order),
  }
}

/**
 * Inserts enquiries and their pending mails in one statement: five times the rate of Prisma's creates. An enquiry whose key
 * or reference is stored already is left out. Suspected spam gets no mails: a summary tells staff of it.
 * @returns the secret of each enquiry that was stored, by its id
 */
export async function insertEnquiries(
  db: Pick<Db, '$queryRaw'>,
  rows: InsertRow[],
  recipients: Recipients,
): Promise<Map<string, string>> {
  // Sorted, so that two statements with the same keys cannot deadlock.
  const sorted = rows.toSorted((a, b) => (a.SubmissionKey < b.SubmissionKey ? -1 : 1))
  const [{ secrets }] = await db.$queryRaw<[{ secrets: Record<string, string> }]>`
    WITH form AS (${insertForm(sorted)} RETURNING "Id", "Email", "SuspectedSpam", "Secret"
    ), mails AS (${insertMails(recipients)})
    SELECT coalesce(json_object_agg("Id", "Secret"), '{}') AS "secrets" FROM form`
  return new Map(Object.entries(secrets))
}

/** The enquiry with this key, and the database's time. Returns only once a synchronous standby has the row too. */
export async function findByKey(db: Db, submissionKey: string) {
  const enquiry = await findWithSecret(db, 'SubmissionKey', submissionKey)
  return enquiry && { ...enquiry, now: await waitForStandby(db) }
}

export async function findByReference(db: Db, reference: string): Promise<Enquiry | undefined> {
  const [enquiry] = await readEnquiries(db, Prisma.sql`WHERE form."Reference" = ${reference}`)
  return enquiry
}

/** Until the transaction ends another form with the same content waits here. */
export async function lockContent(db: Pick<Db, '$executeRaw'>, content: OrderContent): Promise<void> {
  await db.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${JSON.stringify(content)}, 0))`
}

/**
 * Finds an enquiry of the same content that has the same key, or was received in the last ten minutes and waits as it came: one that
 * is over, or that whoever holds its link has touched, may be a stranger's. Once a standby has it too.
 */
export async function findEqualEnquiry(db: Pick<Db, '$queryRaw'>, row: InsertRow) {
  const [equal] = await db.$queryRaw<{ id: string; reference: string }[]>`
    SELECT "Id"::text AS "id", "Reference" AS "reference" FROM "Quvera_Form"
    WHERE "ContentHash" = ${row.ContentHash} AND ("SubmissionKey" = ${row.SubmissionKey}::uuid
      OR "ReceivedAt" > now() - interval '10 minutes'
        AND "ReceivedAt" < clock_timestamp() + interval '1 second' -- not of a clock that was ahead; it is rounded to ms
        AND "Status" = 'New' AND "EraseAt" IS NULL AND "SuspectedSpam" = ${row.SuspectedSpam}
        AND NOT EXISTS (SELECT FROM "Quvera_History" WHERE "EnquiryId" = "Quvera_Form"."Id" AND "ByVisitor"))
    ORDER BY "ReceivedAt" LIMIT 1`
  if (equal) await waitForStandby(db)
  return equal
}

/**
 * Writes a WAL record, because a commit that only read does not wait for a synchronous standby: a restarted primary may hold
 * rows that no standby has. @returns the database's time
 */
async function waitForStandby(db: Pick<Db, '$queryRaw'>): Promise<Date> {
  const [{ now }] = await db.$queryRaw<[{ now: Date }]>`
    SELECT now() AS "now", pg_logical_emit_message(true, 'quvera', '')::text`
  return now
}
