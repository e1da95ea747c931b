import { hash, randomBytes } from 'node:crypto'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'

/*
 * Who gets into the desk: rows of Quvera_Session, which hold only the SHA-256 of what a link or a cookie has.
 *
 *   Link      for 15 minutes, once
 *   Session   for 14 days from its last use, and 90 from its beginning
 *   Browser   for 180 days: has entered as this person. It lets nobody in (sign-in.ts)
 *
 * A row counts while its times lie between now minus the lifetime and now plus a minute, by the database's clock: a clock
 * that was set back gives it no longer life. The site's role sets no time: "Quvera_use_session" sets UsedAt once a day.
 */

const between = (time: 'At' | 'UsedAt', life: string) =>
  Prisma.raw(`"${time}" BETWEEN now() - interval '${life}' AND now() + interval '1 minute'`)
const LINK = Prisma.sql`"Kind" = 'Link' AND ${between('At', '15 minutes')}`
const SESSION = Prisma.sql`"Kind" = 'Session' AND ${between('UsedAt', '14 days')} AND ${between('At', '90 days')}`
const BROWSER = Prisma.sql`"Kind" = 'Browser' AND ${between('At', '180 days')}`
export const SESSION_SECONDS = 14 * 86_400
export const BROWSER_SECONDS = 180 * 86_400
/** Of an address; the oldest goes. */
const BROWSERS_MAX = 5
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

/** Of a link, a session or a browser. */
export function createSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

export function isSecret(text: string): boolean {
  return SECRET.test(text)
}

/** Names a browser and a person together: two people may use one browser. */
export function browserOf(secret: string, email: string): string {
  return hashOf(`${secret} ${email.toLowerCase()}`)
}

export interface FoundSession extends Session {
  /** It was not used for a day: its cookie is to be renewed. */
  isRenewed: boolean
}

/** By the database's clock. */
function readSessions(db: Pick<Db, '$queryRaw'>, where: Prisma.Sql): Promise<FoundSession[]> {
  return db.$queryRaw`
    SELECT "Hash" AS "hash", "Email" AS "email", "ByTerminal" AS "byTerminal",
      "UsedAt" < now() - interval '1 day' AS "isRenewed"
    FROM "Quvera_Session" WHERE ${where}`
}

/** Stores a link and returns its token, which is stored nowhere. In SQL: Prisma would set the time, which the site may not. */
export async function createLink(
  db: Pick<Db, '$executeRaw'>,
  { email, leadsTo, byTerminal = false }: { email: string; leadsTo: string; byTerminal?: boolean },
): Promise<string> {
  const token = createSecret()
  await db.$executeRaw`
    INSERT INTO "Quvera_Session" ("Hash", "Kind", "Email", "LeadsTo", "ByTerminal")
    VALUES (${hashOf(token)}, 'Link', ${email}, ${leadsTo}, ${byTerminal})`
  return token
}

export async function deleteLink(db: Pick<Db, 'session'>, token: string): Promise<void> {
  await db.session.deleteMany({ where: { hash: hashOf(token) } })
}

/** Whether there is a link of this token, or a session that it made. */
export async function isKnownToken(db: Db, token: string): Promise<boolean> {
  if (!isSecret(token)) return false
  const link = hashOf(token)
  return (await db.session.count({ where: { OR: [{ hash: link }, { link }] } })) > 0
}

/** Who a link signs in; undefined for one that is used, over or made up. Changes nothing. */
export async function readLink(db: Db, token: string): Promise<Omit<Session, 'hash'> | undefined> {
  if (!isSecret(token)) return undefined
  const [link] = await readSessions(db, Prisma.sql`${LINK} AND "Hash" = ${hashOf(token)}`)
  return link
}

/**
 * Lets an unused link of the last ten minutes lead where was asked for last. It was mailed at the same moment: it counts if
 * Resend has taken that mail, or may still. @returns whether there is one
 */
export async function redirectUnusedLink(db: Pick<Db, '$queryRaw'>, email: string, leadsTo: string): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    UPDATE "Quvera_Session" link SET "LeadsTo" = ${leadsTo}
    WHERE ${LINK} AND "At" > now() - interval '10 minutes' AND "Email" = ${email} AND EXISTS (
      SELECT FROM "Quvera_Mail" WHERE "Kind" = 'SignIn' AND "To" = link."Email" AND "QueuedAt" = link."At"
        AND ("Status" IN ('Sent', 'Delivered') OR "QueuedAt" > now() - interval '1 minute'))
    RETURNING 1`
  return rows.length > 0
}

interface Entry {
  token: string
  /** The secrets of the browser's cookies; '' where there is none. */
  session: string
  browser: string
}

/**
 * Uses up a link and makes a session by one statement, so that two uses at once make one. A second press of the button within
 * a minute, in the same browser, makes a session in place of the first, whose answer may have been lost. Then deletes the
 * browser's earlier session and what is over.
 * @returns undefined if the link is used, over or made up, or its address is no longer one of staff
 */
export async function enter(
  db: Prisma.TransactionClient,
  staffEmails: string[],
  { token, session, browser }: Entry,
): Promise<(Session & { secret: string; leadsTo: string }) | undefined> {
  const secret = createSecret()
  const made = { hash: hashOf(secret), link: hashOf(token) }
  type Made = Omit<Session, 'hash'> & { leadsTo: string }
  const begin = (from: Prisma.Sql, leadsTo: Prisma.Sql) => db.$queryRaw<Made[]>`
    WITH link AS (
      DELETE FROM "Quvera_Session" WHERE ${from} AND lower("Email") = ANY(${staffEmails.map((each) => each.toLowerCase())}::text[])
      RETURNING "Email", "LeadsTo", "ByTerminal"
    ), session AS (
      INSERT INTO "Quvera_Session" ("Hash", "Kind", "Email", "LeadsTo", "ByTerminal", "Link")
      SELECT ${made.hash}, 'Session', "Email", ${leadsTo}, "ByTerminal", ${made.link} FROM link
    )
    SELECT "Email" AS "email", "LeadsTo" AS "leadsTo", "ByTerminal" AS "byTerminal" FROM link`
  // Two statements: the second one sees what a press under way has done.
  const [first] = await begin(Prisma.sql`${LINK} AND "Hash" = ${made.link}`, Prisma.sql`"LeadsTo"`)
  // That of a second press leads nowhere: it cannot be exchanged for a third.
  const [entered] = first ? [first] : await begin(await isFirstPress(db, made.link, browser), Prisma.sql`NULL`)
  if (!entered) return undefined
  await db.$executeRaw`
    DELETE FROM "Quvera_Session"
    WHERE "Hash" = ${hashOf(session)} OR NOT coalesce((${LINK}) OR (${SESSION}) OR (${BROWSER}), FALSE)`
  await rememberBrowser(db, browserOf(browser, entered.email), entered.email)
  return { ...entered, hash: made.hash, secret }
}

/** The condition of a session that this browser got by the link within the last minute. */
async function isFirstPress(db: Prisma.TransactionClient, link: string, browser: string): Promise<Prisma.Sql> {
  const pressed = Prisma.sql`"Kind" = 'Session' AND "Link" = ${link} AND "LeadsTo" IS NOT NULL AND ${between('At', '1 minute')}`
  const [session] = await readSessions(db, pressed)
  const ofBrowser = browserOf(browser, session?.email ?? '')
  return Prisma.sql`${pressed} AND EXISTS (SELECT FROM "Quvera_Session" WHERE ${BROWSER} AND "Hash" = ${ofBrowser})`
}

/** Its 180 days begin anew. */
async function rememberBrowser(db: Prisma.TransactionClient, browser: string, email: string): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "Quvera_Session" WHERE "Hash" = ${browser} OR "Hash" IN (
      SELECT "Hash" FROM "Quvera_Session" WHERE "Kind" = 'Browser' AND lower("Email") = lower(${email}) AND "Hash" <> ${browser}
      ORDER BY "At" DESC OFFSET ${BROWSERS_MAX - 1})`
  await db.$executeRaw`INSERT INTO "Quvera_Session" ("Hash", "Kind", "Email") VALUES (${browser}, 'Browser', ${email}) ON CONFLICT DO NOTHING`
}

/** The hashes of the browsers that have entered. */
export async function readBrowsers(db: Db): Promise<string[]> {
  return (await readSessions(db, BROWSER)).map(({ hash }) => hash)
}

export async function findSession(db: Db, staffEmails: string[], secret: string): Promise<FoundSession | undefined> {
  if (!isSecret(secret)) return undefined
  const [session] = await readSessions(db, Prisma.sql`"Hash" = ${hashOf(secret)} AND ${SESSION}`)
  if (!session || !findStaff(staffEmails, session.email)) return undefined
  // A database that only reads keeps nobody from reading.
  if (session.isRenewed) await db.$executeRaw`SELECT "Quvera_use_session"(${session.hash})`.catch(() => undefined)
  return session
}

/** Whether a session that still lives was made by this link, for the same person. */
export async function isLinkOf(db: Db, { email }: Session, token: string): Promise<boolean> {
  const made = await readSessions(db, Prisma.sql`${SESSION} AND "Link" = ${hashOf(token)} AND ${ofAddress(email)}`)
  return made.length > 0
}

/** In how many browsers somebody is signed in. */
export async function countSessions(db: Db, { email }: Session): Promise<number> {
  return (await readSessions(db, Prisma.sql`${SESSION} AND ${ofAddress(email)}`)).length
}

const ofAddress = (email: string) => Prisma.sql`lower("Email") = lower(${email})`

/** `everywhere`: also the other sessions, the links and the browsers of its address. `others`: only the other sessions. */
export async function endSession(db: Db, { hash: own, email }: Session, which: 'this' | 'everywhere' | 'others') {
  const ended = {
    this: Prisma.sql`"Hash" = ${own}`,
    everywhere: ofAddress(email),
    others: Prisma.sql`${ofAddress(email)} AND "Kind" = 'Session' AND "Hash" <> ${own}`,
  }
  await deleteSessions(db, ended[which])
}

/** Ends all sessions, links and browsers of an address; without one, of all. @returns how many sessions still lived */
export function endSessions(db: Db, email?: string): Promise<number> {
  return deleteSessions(db, email === undefined ? Prisma.sql`TRUE` : ofAddress(email))
}

/** @returns how many sessions still lived */
async function deleteSessions(db: Db, where: Prisma.Sql): Promise<number> {
  const [{ count }] = await db.$queryRaw<[{ count: number }]>`
    WITH ended AS (DELETE FROM "Quvera_Session" WHERE ${where} RETURNING ${SESSION} AS is_session)
    SELECT count(*) FILTER (WHERE is_session)::int AS "count" FROM ended`
  return count
}

/** Else a session of an address that has left STAFF_EMAILS would live again once the address is back. */
export async function endOfOthers(db: Db, staffEmails: string[]): Promise<void> {
  await db.session.deleteMany({ where: { email: { notIn: staffEmails, mode: 'insensitive' } } })
}

function hashOf(secret: string): string {
  return hash('sha256', secret, 'hex')
}
