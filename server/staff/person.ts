import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Db } from '../database/database.ts'
import { withDatabase } from '../database/open-database.ts'
import type { Env } from '../env.ts'
import { UsageError } from './command.ts'

/** Somebody who asks what we hold of them. Of a mobile number: its ten digits. */
export type Person = { email: string } | { mobile: string }

export function readPerson(text: string): Person {
  const trimmed = text.trim()
  if (trimmed.includes('@')) return { email: trimmed }
  const digits = mobileDigits(trimmed)
  if (digits?.length !== 10) throw new UsageError(`"${text}" is neither a mail address nor a ten-digit mobile number`)
  return { mobile: digits }
}

/** The digits of a mobile number as it is stored, or a part of them; undefined for what is no number. */
export function mobileDigits(text: string): string | undefined {
  const digits = text.replace(/[\s()./-]/g, '').replace(/^(?:\+91|0091|91|0)(?=\d{10}$)/, '')
  return /^\d+$/.test(digits) ? digits : undefined
}

/** A row as the database has it: all columns under their own names. */
export type Stored = Record<string, unknown>

export interface Holdings {
  enquiries: (Stored & { Id: string; Reference: string; ReceivedAt: string; Mails: Stored[] })[]
  subscriptions: (Stored & { Email: string })[]
}

/**
 * All we hold of a person. Subscriptions are found by their address only: the addresses beside a mobile number may be
 * anybody's, typed by somebody else. In SQL, because Prisma's way to ignore case takes `_` and `%` for wildcards.
 */
export async function readHoldings(db: Db, person: Person): Promise<Holdings> {
  const email = 'email' in person ? person.email : null
  const mobile = 'mobile' in person ? person.mobile : null
  const [row] = await db.$queryRaw<Pick<Holdings, 'enquiries'>[]>`
    SELECT coalesce(jsonb_agg(to_jsonb(form) || jsonb_build_object('Mails', (
      SELECT coalesce(jsonb_agg(to_jsonb(mail) - 'EnquiryId' ORDER BY mail."Id"), '[]')
      FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id"
    )) ORDER BY form."ReceivedAt"), '[]') AS "enquiries"
    FROM "Quvera_Form" form WHERE lower("Email") = lower(${email}::text) OR "Mobile" = ${mobile}::text`
  if (!row) throw new Error('An aggregate without GROUP BY returned no row')
  return { ...row, subscriptions: email === null ? [] : await readSubscriptions(db, email) }
}

async function readSubscriptions(db: Db, email: string): Promise<Holdings['subscriptions']> {
  const rows = await db.$queryRaw<{ subscription: Holdings['subscriptions'][number] }[]>`
    SELECT to_jsonb(subscriber) AS "subscription" FROM "Quvera_Subscriber" subscriber
    WHERE lower("Email") = lower(${email})`
  return rows.map(({ subscription }) => subscription)
}

export async function exportPerson(text: string, env: Env, output: Writable): Promise<void> {
  const person = readPerson(text)
  const holdings = await withDatabase(env, ({ db }) => readHoldings(db, person))
  await pipeline([`${JSON.stringify({ person, exportedAt: new Date(), ...holdings }, undefined, 2)}\n`], output)
}
