import { brand } from '../../shared/brand.ts'
import { DAY_MS } from '../../shared/indian-time.ts'
import { asciiEmail } from '../../shared/typed-text.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { OperatorError } from '../errors.ts'
import { UsageError } from '../terminal.ts'
import { monthsBefore } from './retention.ts'

/** Subtracts an age from a time. Months go by the calendar: the same day, or the last day of a shorter month. */
export type Age = (now: Date) => Date

/** `24m` is 24 months, `730d` 730 days. */
export function readAge(age: string): Age {
  const [, number, unit] = /^([1-9]\d{0,3})([md])$/.exec(age.trim().toLowerCase()) ?? []
  if (!number) throw new UsageError(`"${age}" is not an age; write 24m for months or 730d for days`)
  return (now) => (unit === 'd' ? new Date(now.getTime() - Number(number) * DAY_MS) : monthsBefore(now, Number(number)))
}

/** As people type them, each with a prefix of one to five letters or without: `QV-7K3M9P`, `qv 7k3m9p`, `7k3m9p`. */
const REFERENCES = /(?<=^|\s)(?:([a-z]{1,5})[\s-]*)?([0-9a-z]{6})(?=\s|$)/gi

/** `qv 7k3m9p` becomes `QV-7K3M9P`, and `7k3m9p` the ending `-7K3M9P`. */
export function readReferences(words: string[]): string[] {
  const text = words.join(' ')
  const rest = text.replace(REFERENCES, '').trim()
  if (rest)
    throw new UsageError(
      `"${rest}" is not a reference such as ${brand.referencePrefix}-7K3M9P. The desk finds one by any text`,
    )
  return [...text.matchAll(REFERENCES)].map(([, prefix = '', code]) => `${prefix}-${code}`.toUpperCase())
}

/**
 * @param references whole ones, or endings
 * @throws OperatorError when one of them is not found or not unique
 */
export async function findByReference(db: Db, references: string[]) {
  const rows = await db.enquiry.findMany({
    where: { OR: references.map((endsWith) => ({ reference: { endsWith } })) },
    select: { id: true, reference: true },
    orderBy: { receivedAt: 'asc' },
  })
  const found = references.map((reference) => {
    const [row, other] = rows.filter((each) => each.reference.endsWith(reference))
    const name = reference.replace(/^-/, '') // as it was typed
    if (!row)
      throw new OperatorError(`There is no enquiry ${name}: nothing was done. The desk finds others by any text.`)
    if (other) throw new OperatorError(`${name} is ${row.reference} or ${other.reference}: name one of them.`)
    return row
  })
  return [...new Set(found)]
}

/** A person by mail address, or by the ten digits of a mobile number. */
export type Person = { email: string } | { mobile: string }

export function readPerson(text: string): Person {
  const trimmed = text.trim()
  if (trimmed.includes('@')) return { email: asciiEmail(trimmed) }
  const digits = mobileDigits(trimmed)
  if (digits?.length !== 10) throw new UsageError(`"${text}" is neither a mail address nor a ten-digit mobile number`)
  return { mobile: digits }
}

/** The enquiries of a person. `in`, because with `equals` an underscore of the address would stand for any letter. */
export function ofPerson(person: Person): Prisma.EnquiryWhereInput {
  return 'mobile' in person ? { mobile: person.mobile } : { email: { in: [person.email], mode: 'insensitive' } }
}

/** The digits of a mobile number, or of a part of one, without +91 or a leading 0; undefined if the text is no number. */
export function mobileDigits(text: string): string | undefined {
  const plain = text.replace(/[\s()./\p{Dash}\p{Cf}]/gu, '')
  const digits = plain.replace(/^(?:\+91|0091)/, '').replace(/^(?:91)?0?(?=\d{10}$)/, '')
  return /^\d+$/.test(digits) ? digits : undefined
}

/** Of our own, or said by another column; and with the first two somebody else could pass for the person. */
const NOT_EXPORTED = ['Secret', 'SubmissionKey', 'ContentHash', 'SearchText']

/** An enquiry that is held: all its columns by their names. */
export interface HeldEnquiry extends Record<string, unknown> {
  Id: string
  Reference: string
  Name: string
  Products: string
  ReceivedAt: string
  Status: string
  ClosedAs: string | null
  RemindOn: string | null
  Mails: HeldMail[]
}
export interface HeldMail extends Record<'To' | 'WithheldBecause' | 'LastError' | 'SentAt', string | null> {
  Kind: string
  Status: string
  QueuedAt: string
}
interface HeldSubscription {
  Email: string
  SubscribedAt: string
  ConfirmedAt: string | null
}

/**
 * What we hold of a person, each column but NOT_EXPORTED under its name in the database.
 * @param isTheirs the condition of the enquiries (`form`)
 * @param email of a subscription, if the address is known
 */
export async function readHoldings(db: Db, isTheirs: Prisma.Sql, email: string | null) {
  const [{ columns }] = await db.$queryRaw<[{ columns: string }]>`
    SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) AS "columns" FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = 'Quvera_Form' AND column_name <> ALL(${NOT_EXPORTED})`
  const enquiries = await db.$queryRaw<{ row: HeldEnquiry }[]>`
    SELECT to_jsonb(form) || jsonb_build_object('Mails', (
      SELECT coalesce(jsonb_agg(to_jsonb(mail) - 'EnquiryId' ORDER BY mail."Id"), '[]')
      FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id"
    ), 'History', (
      SELECT coalesce(jsonb_agg(to_jsonb(change) - 'EnquiryId' - 'Who' ORDER BY change."Id"), '[]')
      FROM "Quvera_History" change WHERE change."EnquiryId" = form."Id"
    )) AS "row" FROM (SELECT ${Prisma.raw(columns)} FROM "Quvera_Form") form
    WHERE ${isTheirs} ORDER BY form."ReceivedAt"`
  const subscriptions = await db.$queryRaw<{ row: HeldSubscription }[]>`
    SELECT to_jsonb(subscriber) || jsonb_build_object('Mails', (
      SELECT coalesce(jsonb_agg(to_jsonb(mail) - 'SubscriberId' ORDER BY mail."Id"), '[]')
      FROM "Quvera_Mail" mail WHERE mail."SubscriberId" = subscriber."Id"
    )) AS "row" FROM (
      SELECT "Email", "SubscribedAt", "ConsentVersion", "ConfirmedAt", "EndsAt", "Id" FROM "Quvera_Subscriber"
    ) subscriber WHERE lower("Email") = lower(${email}::text)`
  return { enquiries: enquiries.map(({ row }) => row), subscriptions: subscriptions.map(({ row }) => row) }
}
