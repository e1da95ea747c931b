import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { toEnquiry } from '../enquiries/enquiry.ts'
import { type Budget, summaryPauseMs, type Used } from './quota.ts'
import { kinds, mailKinds, statesBefore, TOO_OLD } from './states.ts'

/*
 * The queue: rows of Quvera_Mail that are Pending. The statement that stores an enquiry writes its mails. A sender claims
 * what is due for some seconds, tries to send it, and records the result; no transaction stays open meanwhile. All times
 * are the database's.
 */

/** A mail that this process may send now, until its claim ends. */
export type ClaimedMail = Awaited<ReturnType<typeof readMails>>[number]

interface MailRow {
  id: bigint
  /** When an earlier try began that may have sent it. */
  triedBefore?: Date | null
  /** Resend has forgotten the key of that try, so that another one may send a second copy. */
  isTooLate?: boolean
}

/** What a try made of a mail. */
export interface Result {
  to: MailStatus
  lastError: string | null
  /** Pending: when to try again. Sent: when to ask whether it arrived. */
  dueInMs?: number
  resendId?: string
  /** The mail was certainly not sent: an earlier try stays the first one that may have sent it. */
  isUnsent?: true
  /** For so long nothing else is to be tried either. */
  pauseMs?: number
}

/** Few enough for one statement to stay well within its time limit. */
export const CHUNK = 1000
/** Resend remembers an idempotency key for 24 hours; an hour is left for clocks that differ and for the try itself. */
const KEY_LIFETIME_HOURS = 23
const RETRY_MAX_SECONDS = 300
/** Counts for whoever watches the site end there. */
const BACKLOG_MAX = 10_000
const OVERDUE_SECONDS = 15 * 60
/** Of the last mails whose fate is known, so many may have been unwelcome. */
const DECIDED = 20
const UNWELCOME = 5

/** The only statement that changes the state of mails: of those which `where` chooses, if they may have the new state. */
export async function transition(
  db: Pick<Db, '$queryRaw'>,
  to: MailStatus,
  where: Prisma.Sql,
  change = Prisma.empty,
): Promise<{ id: bigint; kind: MailKind; enquiryId: string | null }[]> {
  return db.$queryRaw`
    UPDATE "Quvera_Mail" mail SET "Status" = ${to}::"Quvera_MailStatus" ${change}
    WHERE mail."Status" = ANY(${statesBefore(to)}::text[]::"Quvera_MailStatus"[]) AND ${where}
    RETURNING mail."Id" AS "id", mail."Kind"::text AS "kind", mail."EnquiryId" AS "enquiryId"`
}

/**
 * Claims due mails, in the order of the kinds in `limits`: so many of each, and `room` in all. Mails to staff go out oldest
 * first, those to visitors newest first. Every try counts as one that may have sent the mail, until it is known not to be.
 * @param withUnclear first those whose last try had no clear answer: they count as sent already, so no limit holds them
 */
export async function claimDue(
  db: Db,
  limits: Partial<Record<MailKind, number>>,
  room: number,
  leaseSeconds: number,
  withUnclear: boolean,
): Promise<ClaimedMail[]> {
  const kindsLimited = Object.keys(limits) as MailKind[]
  const parts = kindsLimited.flatMap((kind, rank) => {
    const limit = Math.min(limits[kind] ?? 0, room)
    const order = kinds[kind].to === 'visitor' ? Prisma.sql`DESC` : Prisma.sql`ASC`
    const due = Prisma.sql`(SELECT ${rank}::int AS "rank", "Id", "TriedAt" FROM "Quvera_Mail"
      WHERE "Status" = 'Pending' AND "Kind" = ${kind}::"Quvera_MailKind" AND "DueAt" <= now() AND "TriedAt" IS NULL
      ORDER BY "DueAt" ${order} LIMIT ${limit})`
    return limit > 0 ? [due] : []
  })
  if (withUnclear)
    parts.push(Prisma.sql`(SELECT -1 AS "rank", "Id", "TriedAt" FROM "Quvera_Mail"
      WHERE "Status" = 'Pending' AND "Attempts" > 0 AND "TriedAt" IS NOT NULL AND "DueAt" <= now()
        AND "Kind" = ANY(${kindsLimited}::text[]::"Quvera_MailKind"[])
      ORDER BY "Id" LIMIT ${room})`)
  if (parts.length === 0) return []
  const rows = await db.$queryRaw<MailRow[]>`
    UPDATE "Quvera_Mail" mail
    SET "Attempts" = mail."Attempts" + 1,
      "DueAt" = now() + make_interval(secs => ${leaseSeconds}),
      "TriedAt" = coalesce(mail."TriedAt", now())
    FROM (SELECT * FROM (${Prisma.join(parts, ' UNION ALL ')}) each ORDER BY "rank" LIMIT ${room}) due
    WHERE mail."Id" = due."Id" AND mail."Status" = 'Pending' AND mail."DueAt" <= now()
    RETURNING mail."Id" AS "id", due."TriedAt" AS "triedBefore",
      coalesce(due."TriedAt" < now() - make_interval(hours => ${KEY_LIFETIME_HOURS}), FALSE) AS "isTooLate"`
  return readMails(db, rows)
}

/** All that is needed to write these mails; without those whose enquiry was erased meanwhile. */
export async function readMails(db: Db, rows: MailRow[]) {
  if (rows.length === 0) return []
  const mails = await db.mail.findMany({
    where: { id: { in: rows.map(({ id }) => id) } },
    include: { enquiry: true, subscriber: true },
  })
  return mails.flatMap(({ enquiry, key, ...mail }) => {
    if (!enquiry && !key) return []
    const { triedBefore = null, isTooLate = false } = rows.find(({ id }) => id === mail.id) ?? {}
    const ofEnquiry = `${kinds[mail.kind].key}/${enquiry?.id}`
    return { ...mail, triedBefore, isTooLate, key: key ?? ofEnquiry, enquiry: enquiry && toEnquiry(enquiry) }
  })
}

/** Records the result of a try, unless another process has claimed the mail meanwhile: then its try counts. */
export async function recordResult(db: Db, mail: ClaimedMail, result: Result): Promise<void> {
  const { to, lastError, dueInMs, resendId, isUnsent } = result
  const triedAt =
    to === 'Sent' ? Prisma.sql`now()` : isUnsent ? Prisma.sql`${mail.triedBefore}::timestamptz` : Prisma.sql`"TriedAt"`
  await transition(
    db,
    to,
    Prisma.sql`mail."Id" = ${mail.id} AND mail."Attempts" = ${mail.attempts} AND mail."Status" = 'Pending'`,
    Prisma.sql`, "LastError" = ${lastError}, "ResendId" = coalesce(${resendId ?? null}, "ResendId"),
      "TriedAt" = ${triedAt}, "DueAt" = ${dueInMs === undefined ? null : Prisma.sql`now() + make_interval(secs => ${dueInMs / 1000})`}`,
  )
}

/** How long to wait after so many tries that failed: twice as long each time, and not all for the same time. */
export function backOffMs(attempts: number, baseSeconds: number): number {
  const seconds = Math.min(baseSeconds * 2 ** Math.min(attempts - 1, 10), RETRY_MAX_SECONDS)
  return seconds * 1000 * (0.75 + Math.random() / 2)
}

/**
 * Withholds mails that nobody tried, or asked to try, for so long: acknowledgements after a day. Posts that were tried for
 * so long are given up. A chunk of each kind at a time; returns whether there may be more.
 */
export async function withholdOld(db: Db, of: MailKind[], maxAgeDays: number, log: Pick<Logger, 'error'>) {
  let [mayBeMore, untold] = [false, 0]
  for (const kind of of) {
    const isLate = kind === 'Acknowledgement'
    const reason = isLate ? 'Not sent: after 24 hours it is too late.' : `${TOO_OLD} ${maxAgeDays} days old.`
    const cutoff = Prisma.sql`now() - make_interval(days => ${isLate ? 1 : maxAgeDays})`
    const chunkOf = (condition: Prisma.Sql) => Prisma.sql`mail."Id" IN (SELECT "Id" FROM "Quvera_Mail"
      WHERE "Status" = 'Pending' AND "Kind" = ${kind}::"Quvera_MailKind" AND ${condition} LIMIT ${CHUNK})`
    const because = Prisma.sql`, "LastError" = ${reason}, "DueAt" = coalesce("DueAt", now())`
    const neverTried = Prisma.sql`"TriedAt" IS NULL AND "DueAt" < ${cutoff}`
    const suspected = Prisma.sql`"TriedAt" IS NULL AND "DueAt" IS NULL AND EXISTS (
      SELECT FROM "Quvera_Form" form WHERE form."Id" = "EnquiryId" AND form."ReceivedAt" < ${cutoff})`
    const tried = Prisma.sql`"Attempts" > 0 AND "TriedAt" < ${cutoff}`
    const withheld = await transition(db, 'Withheld', chunkOf(neverTried), because)
    if (kind === 'Staff') withheld.push(...(await transition(db, 'Withheld', chunkOf(suspected), because)))
    const givenUp = kind === 'Post' ? await transition(db, 'Failed', chunkOf(tried)) : []
    if (givenUp.length > 0) log.error({ posts: givenUp.length }, 'posts to NOTIFY_URL were given up: see `staff mails`')
    const ids = kind === 'Staff' ? withheld.flatMap(({ enquiryId }) => enquiryId ?? []) : []
    if (ids.length > 0) untold += await db.enquiry.count({ where: { id: { in: ids }, status: 'New' } })
    mayBeMore ||= withheld.length + givenUp.length >= CHUNK
  }
  if (untold > 0)
    log.error({ enquiries: untold }, 'notices are too old to be sent, and staff were never told: see `staff mails`')
  return mayBeMore
}

/**
 * Deletes events that belong to no mail of ours, and mends dates of a clock that was ahead: such a mail would wait, or
 * count as sent, until then. Whether Resend still knows the key of one that was tried meanwhile is not known.
 */
export async function tidyUp(db: Db): Promise<void> {
  const future = Prisma.sql`> now() + interval '2 hours'` // no wait is longer
  await db.$executeRaw`DELETE FROM "Quvera_MailEvent" WHERE "ReceivedAt" < now() - interval '2 days'`
  await db.$executeRaw`UPDATE "Quvera_Mail" SET "DueAt" = now() WHERE "Status" = 'Pending' AND "DueAt" ${future}`
  await db.$executeRaw`
    UPDATE "Quvera_Mail" SET "TriedAt" = CASE "Status" WHEN 'Pending' THEN to_timestamp(0) ELSE now() END
    WHERE "Kind" = ANY(${mailKinds}::text[]::"Quvera_MailKind"[]) AND "TriedAt" ${future}`
}

/** What decides how many mails may be sent now. */
export interface Usage {
  used: Used
  /** There are notices that are not to be mailed alone, because they may be spam; or others that are due. */
  hasSuspected: boolean
  hasDue: boolean
  /** The pause after the last summary is over, and none is still to be sent. */
  isSummaryOpen: boolean
  /** Too many of the last ones were unwelcome. */
  isHeld: { Acknowledgement: boolean; Confirmation: boolean }
  now: Date
}

/** Reads no more rows than the budget has mails. Without a budget nothing has to be counted. */
export async function readUsage(db: Db, budget: Budget): Promise<Usage> {
  const inADay = (kind: string) => Prisma.sql`(SELECT count(*)::int FROM (
    SELECT FROM "Quvera_Mail" WHERE "Kind" = ${kind}::"Quvera_MailKind" AND "TriedAt" > now() - interval '24 hours'
    ORDER BY "TriedAt" DESC LIMIT ${budget.mails}) used)`
  const isHeld = (
    kind: string,
  ) => Prisma.sql`(SELECT count(*) FILTER (WHERE "Status" <> 'Delivered') >= ${UNWELCOME} FROM (
    SELECT decided.* FROM unnest(ARRAY['Delivered', 'Bounced', 'Complained']::"Quvera_MailStatus"[]) AS fate
    CROSS JOIN LATERAL (
      SELECT "Status", "DueAt" FROM "Quvera_Mail"
      WHERE "Status" = fate AND "Kind" = ${kind}::"Quvera_MailKind" AND "DueAt" > now() - interval '1 day'
      ORDER BY "DueAt" DESC LIMIT ${DECIDED}) decided
    ORDER BY "DueAt" DESC LIMIT ${DECIDED}) last)`
  const waiting = Prisma.sql`SELECT TRUE FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "Kind" = 'Staff'`
  const [row] = await db.$queryRaw<
    [
      Used &
        Pick<Usage, 'hasSuspected' | 'hasDue' | 'now'> &
        Record<'isHeldAck' | 'isHeldConfirm' | 'isPending', boolean> & { quietMs: number | null },
    ]
  >`
    SELECT ${inADay('Staff')} AS "Staff", ${inADay('Summary')} AS "Summary",
      ${inADay('Acknowledgement')} AS "Acknowledgement", ${inADay('Confirmation')} AS "Confirmation",
      (${waiting} AND "DueAt" IS NULL ORDER BY "DueAt" LIMIT 1) IS TRUE AS "hasSuspected",
      (${waiting} AND "DueAt" <= now() AND "TriedAt" IS NULL ORDER BY "DueAt" LIMIT 1) IS TRUE AS "hasDue",
      EXISTS (SELECT FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "Kind" = 'Summary') AS "isPending",
      (SELECT extract(epoch FROM now() - max("TriedAt"))::float * 1000 FROM "Quvera_Mail" WHERE "Kind" = 'Summary') AS "quietMs",
      ${isHeld('Acknowledgement')} AS "isHeldAck", ${isHeld('Confirmation')} AS "isHeldConfirm", now() AS "now"`
  const { hasSuspected, hasDue, isPending, quietMs, isHeldAck, isHeldConfirm, now, ...used } = row
  const isQuiet = quietMs === null || quietMs >= summaryPauseMs(budget, used.Summary)
  const isHeldOf = { Acknowledgement: isHeldAck, Confirmation: isHeldConfirm }
  return { used, hasSuspected, hasDue, isSummaryOpen: isQuiet && !isPending, isHeld: isHeldOf, now }
}

/** For whoever watches the site. Counts end at `BACKLOG_MAX` a kind: they cost the same however many mails there are. */
export async function readBacklog(db: Db) {
  const first = (state: MailStatus, of: readonly MailKind[], limit: number) => Prisma.sql`
    FROM unnest(${of}::text[]::"Quvera_MailKind"[]) AS kind CROSS JOIN LATERAL (
      SELECT "DueAt" FROM "Quvera_Mail" WHERE "Status" = ${state}::"Quvera_MailStatus" AND "Kind" = kind
      ORDER BY "DueAt" LIMIT ${limit}) first`
  const countOf = (state: MailStatus, of: readonly MailKind[] = mailKinds) =>
    Prisma.sql`(SELECT count(*)::int ${first(state, of, BACKLOG_MAX)})`
  const [row] = await db.$queryRaw<
    [Record<'pending' | 'failed' | 'unknown' | 'pendingPosts' | 'failedPosts' | 'oldestPendingSeconds', number>]
  >`
    SELECT ${countOf('Pending')} AS "pending", ${countOf('Failed')} AS "failed", ${countOf('Unknown')} AS "unknown",
      ${countOf('Pending', ['Post'])} AS "pendingPosts", ${countOf('Failed', ['Post'])} AS "failedPosts",
      coalesce(greatest(0, extract(epoch FROM now() - least(
        -- Of a mail that was never tried this is when it was written.
        (SELECT min("DueAt") ${first('Pending', mailKinds, 1)}),
        (SELECT coalesce(form."ReceivedAt", subscriber."SubscribedAt") FROM (
            SELECT "EnquiryId", "SubscriberId" FROM "Quvera_Mail"
            WHERE "Status" = 'Pending' AND "Attempts" > 0 AND "Kind" <> 'Post' ORDER BY "Id" LIMIT 1) tried
          LEFT JOIN "Quvera_Form" form ON form."Id" = tried."EnquiryId"
          LEFT JOIN "Quvera_Subscriber" subscriber ON subscriber."Id" = tried."SubscriberId")))), 0)::int
        AS "oldestPendingSeconds"`
  return { ...row, isOverdue: row.oldestPendingSeconds > OVERDUE_SECONDS }
}
