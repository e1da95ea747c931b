import { hash, randomInt } from 'node:crypto'
import { brand } from '../../shared/brand.ts'
import type { OrderField } from '../../shared/order.ts'
import type { Db } from './database.ts'
import { Prisma } from './generated/client.ts'
import type { EnquiryStatus } from './generated/enums.ts'

/** A stored enquiry. Its values are those of the database, which read as in the form. */
export interface Enquiry extends Record<OrderField, string> {
  id: string
  reference: string
  receivedAt: Date
  status: EnquiryStatus
  suspectedSpam: boolean
  /** Why it was closed, if staff said so. */
  closedAs: string | null
  /** The day in India on which staff want to ring again, `2026-11-30`. */
  remindOn: string | null
  /** When it is erased, as somebody has asked for it. */
  eraseAt: Date | null
}

/** The columns of the form's fields in `Quvera_Form`, in the order in which staff read them. */
export const columnOf: Record<OrderField, string> = {
  name: 'Name',
  mobile: 'Mobile',
  email: 'Email',
  products: 'Products',
  quantity: 'Quantity',
  retailerSelfUse: 'RetailerSelfUse',
}
/** The version of the privacy notice of an enquiry that staff have entered: there was none, and it has no mails of an order. */
export const BY_PHONE = 'by phone'
export const enquiryFields = Object.keys(columnOf) as OrderField[]

/** Fields of the form, or some of them, by their columns. */
export function columnsOf(fields: Partial<Record<OrderField, string | number>>): Record<string, string | number> {
  const given = enquiryFields.flatMap((field) => (field in fields ? [[columnOf[field], fields[field]]] : []))
  return Object.fromEntries(given)
}

const FIELDS = Prisma.raw(enquiryFields.map((field) => `form."${columnOf[field]}"::text AS "${field}"`).join(', '))
/** All columns of an enquiry, of `Quvera_Form` under the name `form`. */
export const ENQUIRY = Prisma.sql`form."Id"::text AS "id", form."Reference" AS "reference", form."ReceivedAt" AS "receivedAt",
  form."Status"::text AS "status", form."SuspectedSpam" AS "suspectedSpam",
  form."ClosedAs"::text AS "closedAs", form."RemindOn"::text AS "remindOn", form."EraseAt" AS "eraseAt", ${FIELDS}`

/**
 * Reads as text what Prisma would check against the values that this version knows: after a rollback the table may hold a
 * product of a newer one.
 * @param rest what follows FROM, about `form`: conditions, order and limit
 */
export function readEnquiries(db: Pick<Db, '$queryRaw'>, rest: Prisma.Sql): Promise<Enquiry[]> {
  return db.$queryRaw<Enquiry[]>`SELECT ${ENQUIRY} FROM "Quvera_Form" form ${rest}`
}

export interface EnquiryWithSecret extends Enquiry {
  /** Of the links to the visitor's page. quvera_readonly may not read it. */
  secret: string
  /** Of what was sent. */
  contentHash: string
}

/** @param isLocked until the transaction ends */
export async function findWithSecret(
  db: Pick<Db, '$queryRaw'>,
  column: 'Id' | 'SubmissionKey',
  value: string,
  isLocked = false,
): Promise<EnquiryWithSecret | undefined> {
  const [enquiry] = await db.$queryRaw<EnquiryWithSecret[]>`
    SELECT ${ENQUIRY}, form."Secret" AS "secret", form."ContentHash" AS "contentHash" FROM "Quvera_Form" form
    WHERE ${Prisma.raw(`form."${column}"`)} = ${value}::uuid ${Prisma.raw(isLocked ? 'FOR NO KEY UPDATE' : '')}`
  return enquiry
}

/**
 * Inserts enquiries; one whose key or reference is stored already is left out. A part of a statement.
 * @param rows the property names are those of the columns
 */
export function insertForm(rows: Record<string, unknown>[]): Prisma.Sql {
  const names = Prisma.raw(
    Object.keys(rows[0] ?? {})
      .map((name) => `"${name}"`)
      .join(', '),
  )
  // JSON and not arrays: PostgreSQL plans a statement anew for each length of an array.
  return Prisma.sql`INSERT INTO "Quvera_Form" (${names})
    SELECT ${names} FROM json_populate_recordset(NULL::"Quvera_Form", ${JSON.stringify(rows)}::json) ON CONFLICT DO NOTHING`
}

export type ListOrder = 'newest' | 'oldest'

/** What follows ORDER BY, about `form`. */
export function inOrder(order: ListOrder = 'newest'): Prisma.Sql {
  return Prisma.raw(order === 'newest' ? 'form."ReceivedAt" DESC, form."Id" DESC' : 'form."ReceivedAt", form."Id"')
}

/** The condition of the enquiries (`form`) that come after `last` in this order; of all if there is no `last`. */
export function isAfter(last: Pick<Enquiry, 'receivedAt' | 'id'> | undefined, order: ListOrder = 'newest'): Prisma.Sql {
  if (!last) return Prisma.sql`TRUE`
  const operator = Prisma.raw(order === 'newest' ? '<' : '>')
  return Prisma.sql`(form."ReceivedAt", form."Id") ${operator} (${last.receivedAt}::timestamptz, ${last.id}::uuid)`
}

/** Today, in India. */
export const TODAY = Prisma.sql`(now() AT TIME ZONE 'Asia/Kolkata')::date`

/** The condition of an enquiry (`form`) that waits for staff: neither reminded for later, nor to be erased. */
export const WAITING = Prisma.sql`form."Status" = 'New' AND NOT form."SuspectedSpam" AND form."EraseAt" IS NULL
  AND (form."RemindOn" IS NULL OR form."RemindOn" <= ${TODAY})`

/** The condition of enquiries (`form`) that staff want to ring again, today or later. */
export const REMINDED = Prisma.sql`form."RemindOn" IS NOT NULL AND form."Status" <> 'Closed' AND NOT form."SuspectedSpam"
  AND form."EraseAt" IS NULL`

/** SHA-256 of what was sent, by which a repeat is known. A field that is empty does not count: so one may be added. */
export function hashContent(order: Record<OrderField, string | number>): string {
  const lines = enquiryFields
    .filter((field) => order[field] !== '')
    .map((field) => `${columnOf[field]}:${order[field]}`)
  return hash('sha256', lines.join('\n'), 'hex')
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
