import { hash, randomBytes } from 'node:crypto'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'

/*
 * Links and sessions: rows of Quvera_Session, which hold only the SHA-256 of what a link or a cookie has. Both count while
 * their time lies between now minus their lifetime and now plus a minute, by the database's clock: a clock that was set back
 * gives them no longer life.
 */

const LINK = Prisma.sql`"IsLink" AND "At" BETWEEN now() - interval '15 minutes' AND now() + interval '1 minute'`
const SESSION = Prisma.sql`NOT "IsLink" AND "At" BETWEEN now() - interval '14 days' AND now() + interval '1 minute'`
export const SESSION_SECONDS = 14 * 86_400
/** 256 bits. */
const SECRET_BYTES = 32
const SECRET = /^[\w-]{43}$/

export interface Session {
  hash: string
  /** One of STAFF_EMAILS. */
  email: string
  /** Entered by a link that a terminal printed: nobody has checked the address. */
  byTerminal: boolean
}

/** How history and access log name whoever uses a session. */
export function nameOf({ email, byTerminal }: Omit<Session, 'hash'>): string {
  return byTerminal ? `${email} (terminal)` : email
}

/** The address as STAFF_EMAILS has it, if it is one of them in any case. */
export function findStaff(staffEmails: string[], email: string): string | undefined {
  return staffEmails.find((each) => each.toLowerCase() === email.toLowerCase())
}

/** Stores a link and returns its token, which is stored nowhere. In SQL: Prisma would set the time, which the site may not. */
export async function createLink(
  db: Pick<Db, '$executeRaw'>,
  { email, leadsTo, byTerminal = false }: { email: string; leadsTo: string; byTerminal?: boolean },
): Promise<string> {
  const token = createSecret()
  await db.$executeRaw`
    INSERT INTO "Quvera_Session" ("Hash", "IsLink", "Email", "LeadsTo", "ByTerminal")
    VALUES (${hashOf(token)}, TRUE, ${email}, ${leadsTo}, ${byTerminal})`
  return token
}

export async function deleteLink(db: Pick<Db, 'session'>, token: string): Promise<void> {
  await db.session.deleteMany({ where: { hash: hashOf(token) } })
}

/** Whether a mailed link of the last ten minutes waits to be used. */
export async function hasUnusedLink(db: Pick<Db, '$queryRaw'>, email: string): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM "Quvera_Session" WHERE ${LINK} AND "At" > now() - interval '10 minutes'
      AND NOT "ByTerminal" AND "Email" = ${email} LIMIT 1`
  return rows.length > 0
}

/**
 * Uses up a link and makes a session in the same statement, so that two uses at once make one. Then deletes the browser's
 * earlier session and what is over.
 * @returns undefined if the link is used, over or made up, or its address is no longer one of staff
 */
export async function enter(
  db: Db,
  staffEmails: string[],
  token: string,
  earlierSession?: string,
): Promise<{ secret: string; leadsTo: string } | undefined> {
  const secret = createSecret()
  const [entered] = await db.$queryRaw<{ leadsTo: string }[]>`
    WITH link AS (
      DELETE FROM "Quvera_Session" WHERE ${LINK} AND "Hash" = ${hashOf(token)} AND lower("Email") = ANY(${lower(staffEmails)}::text[])
      RETURNING "Email", "LeadsTo", "ByTerminal"
    ), session AS (
      INSERT INTO "Quvera_Session" ("Hash", "IsLink", "Email", "ByTerminal")
      SELECT ${hashOf(secret)}, FALSE, "Email", "ByTerminal" FROM link
    )
    SELECT "LeadsTo" AS "leadsTo" FROM link`
  if (!entered) return undefined
  await db.$executeRaw`
    DELETE FROM "Quvera_Session"
    WHERE "Hash" = ${hashOf(earlierSession ?? '')} OR NOT coalesce((${LINK}) OR (${SESSION}), FALSE)`
  return { ...entered, secret }
}

export async function findSession(db: Db, staffEmails: string[], secret: string): Promise<Session | undefined> {
  if (!SECRET.test(secret)) return undefined
  const [session] = await db.$queryRaw<Session[]>`
    SELECT "Hash" AS "hash", "Email" AS "email", "ByTerminal" AS "byTerminal" FROM "Quvera_Session"
    WHERE "Hash" = ${hashOf(secret)} AND ${SESSION}`
  return session && findStaff(staffEmails, session.email) ? session : undefined
}

/** @param everywhere also the other sessions and the links of its address */
export async function endSession(db: Db, { hash: own, email }: Session, everywhere: boolean): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "Quvera_Session" WHERE "Hash" = ${own} OR (${everywhere} AND lower("Email") = lower(${email}))`
}

function createSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

function hashOf(secret: string): string {
  return hash('sha256', secret, 'hex')
}

function lower(emails: string[]): string[] {
  return emails.map((email) => email.toLowerCase())
}
