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
  const digits = trimmed.replace(/[\s()./-]/g, '').replace(/^(?:\+91|0091|91|0)(?=\d{10}$)/, '')
  if (!/^\d{10}$/.test(digits))
    throw new UsageError(`"${text}" is neither a mail address nor a ten-digit mobile number`)
  return { mobile: digits }
}

/** A row as the database has it: all columns under their own names. */
export type Stored = Record<string, unknown>

export interface Holdings {
  enquiries: (Stored & { Id: string; Reference: string; ReceivedAt: string; Mails: Stored[] })[]
  subscriptions: (Stored & { Email: string })[]
}

/**
 * All we hold of a person. The subscriptions of somebody known by a mobile number are those of the addresses in their
 * enquiries. In SQL, because Prisma's way to ignore case takes `_` and `%` in an address for wildcards.
 */
export async function readHoldings(db: Db, person: Person): Promise<Holdings> {
  const email = 'email' in person ? person.email : null
  const mobile = 'mobile' in person ? person.mobile : null
  const [row] = await db.$queryRaw<Holdings[]>`
    WITH form AS (
      SELECT * FROM "Quvera_Form" WHERE lower("Email") = lower(${email}::text) OR "Mobile" = ${mobile}::text
    )
    SELECT
      (SELECT coalesce(jsonb_agg(to_jsonb(form) || jsonb_build_object('Mails', (
        SELECT coalesce(jsonb_agg(to_jsonb(mail) - 'EnquiryId' ORDER BY mail."Id"), '[]')
        FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id"
      )) ORDER BY form."ReceivedAt"), '[]') FROM form) AS "enquiries",
      (SELECT coalesce(jsonb_agg(to_jsonb(subscriber)), '[]') FROM "Quvera_Subscriber" subscriber
        WHERE lower("Email") IN (SELECT lower("Email") FROM form UNION SELECT lower(${email}::text))
      ) AS "subscriptions"`
  if (!row) throw new Error('A query without FROM returned no row')
  return row
}

export async function exportPerson(text: string, env: Env, output: Writable): Promise<void> {
  const person = readPerson(text)
  const holdings = await withDatabase(env, ({ db }) => readHoldings(db, person))
  await pipeline([`${JSON.stringify({ person, exportedAt: new Date(), ...holdings }, undefined, 2)}\n`], output)
}
