import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { toEnquiry } from '../enquiries/enquiry.ts'
import { keysOf, kinds, statesBefore, storedKind, storedKinds, TOO_OLD } from './states.ts'

/* The queue: rows of Quvera_Mail that are Pending. No transaction is open during a try. All times are the database's. */

/** A mail that this process may send now, until its claim ends. */
export type ClaimedMail = StoredMail & Omit<Claim, 'id'>

export type StoredMail = Awaited<ReturnType<typeof readMails>>[number]

interface Claim {
  id: bigint
  /** DueAt before the claim. Restored when the mail was certainly not sent. */
  dueBefore: Date
  /** TriedAt before the claim: when an earlier try began that may have sent it. */
  triedBefore: Date | null
  triedHoursAgo: number | null
}

export interface Result {
  to: MailStatus
  lastError: string | null
  /** Pending: when to try again. Sent: when to ask whether it arrived. */
  dueInMs?: number
  resendId?: string
  /** The mail was certainly not sent: its times are as before the claim. */
  isUnsent?: true
  /** How long to pause all sending. */
  pauseMs?: number
}

/** Rows in one statement, because of its time limit. */
export const CHUNK = 1000
const RETRY_MAX_SECONDS = 300

/** The only statement that changes a mail's state. Skips mails that may not have the new one. */
export async function transition(
  db: Pick<Db, '$queryRaw'>,
  to: MailStatus,
  where: Prisma.Sql,
  change = Prisma.empty,
): Promise<{ enquiryId: string | null }[]> {
  return db.$queryRaw`
    UPDATE "Quvera_Mail" mail SET "Status" = ${to}::"Quvera_MailStatus" ${change}
    WHERE mail."Status" = ANY(${statesBefore(to)}::text[]::"Quvera_MailStatus"[]) AND ${where}
    RETURNING mail."EnquiryId" AS "enquiryId"`
}

/**
 * Claims due mails in the order of `kinds`: `limits` of each, `most` in all. Mails that an earlier try may have sent come
 * first and without a limit, as they are counted already; posts that were tried come last, because a receiver that hangs
 * must not hold up the others. Mails to staff go out oldest first, those to visitors newest first.
 */
export async function claimDue(
  db: Db,
  limits: Partial<Record<MailKind, number>>,
  most: number,
  leaseSeconds: number,
): Promise<ClaimedMail[]> {
  const due = (rank: number, where: Prisma.Sql, order: 'ASC' | 'DESC', limit: number) => Prisma.sql`(
    SELECT ${rank}::int AS "rank", "Id", "DueAt", "TriedAt" FROM "Quvera_Mail"
    WHERE "Status" = 'Pending' AND "DueAt" <= now() AND ${where} ORDER BY "DueAt" ${Prisma.raw(order)} LIMIT ${limit})`
  const untried = keysOf(kinds).flatMap((kind, rank) => {
    const limit = Math.min(limits[kind] ?? 0, most)
    const where = Prisma.sql`"Kind" = ${storedKind(kind)} AND "TriedAt" IS NULL`
    return limit > 0 ? [due(rank, where, kinds[kind].to === 'visitor' ? 'DESC' : 'ASC', limit)] : []
  })
  const ambiguous = Prisma.sql`"Kind" = ANY(${storedKinds(keysOf(limits))}) AND "TriedAt" IS NOT NULL`
  const ambiguousRank = limits.Post ? keysOf(kinds).length : -1
  const claims = await db.$queryRaw<Claim[]>`
    UPDATE "Quvera_Mail" mail
    SET "Attempts" = mail."Attempts" + 1,
      "DueAt" = now() + make_interval(secs => ${leaseSeconds}),
      "TriedAt" = coalesce(mail."TriedAt", now())
    FROM (SELECT * FROM (${Prisma.join([due(ambiguousRank, ambiguous, 'ASC', most), ...untried], ' UNION ALL ')}) each
      ORDER BY "rank" LIMIT ${most}) due
    WHERE mail."Id" = due."Id" AND mail."Status" = 'Pending' AND mail."DueAt" <= now()
    RETURNING mail."Id" AS "id", due."DueAt" AS "dueBefore", due."TriedAt" AS "triedBefore",
      (extract(epoch FROM now() - due."TriedAt") / 3600)::float AS "triedHoursAgo"`
  const mails = await readMails(db, claims)
  return mails.flatMap((mail) => claims.filter(({ id }) => id === mail.id).map((claim) => ({ ...claim, ...mail })))
}

/** Leaves out mails whose enquiry was erased meanwhile. */
export async function readMails(db: Db, rows: { id: bigint }[]) {
  if (rows.length === 0) return []
  const mails = await db.mail.findMany({
    where: { id: { in: rows.map(({ id }) => id) } },
    include: { enquiry: true, subscriber: true },
  })
  return mails.flatMap(({ enquiry, key, ...mail }) => {
    if (!enquiry && !key) return []
    const keyOfEnquiry = `${kinds[mail.kind].key}/${enquiry?.id}`
    return { ...mail, key: key ?? keyOfEnquiry, enquiry: enquiry && toEnquiry(enquiry) }
  })
}

/** Ignored if another process has claimed the mail since: then its result counts. */
export async function recordResult(db: Db, mail: ClaimedMail, result: Result): Promise<void> {
  const { to, lastError, dueInMs, resendId = null, isUnsent } = result
  const next = dueInMs === undefined ? null : Prisma.sql`now() + make_interval(secs => ${dueInMs / 1000})`
  const times = isUnsent
    ? Prisma.sql`"DueAt" = ${mail.dueBefore}, "TriedAt" = ${mail.triedBefore}::timestamptz`
    : Prisma.sql`"DueAt" = ${next}, "TriedAt" = ${to === 'Sent' ? Prisma.sql`now()` : Prisma.sql`"TriedAt"`}`
  await transition(
    db,
    to,
    Prisma.sql`mail."Id" = ${mail.id} AND mail."Attempts" = ${mail.attempts} AND mail."Status" = 'Pending'`,
    Prisma.sql`, "LastError" = ${lastError}, "ResendId" = coalesce(${resendId}, "ResendId"), ${times}`,
  )
}

/** Exponential, with jitter. */
export function backOffMs(attempts: number, baseSeconds: number): number {
  const seconds = Math.min(baseSeconds * 2 ** Math.min(attempts - 1, 10), RETRY_MAX_SECONDS)
  return seconds * 1000 * (0.75 + Math.random() / 2)
}

/**
 * Withholds a chunk of each kind of untried mails that have been due for `maxAgeDays`; acknowledgements after a day. Never
 * summaries and notices without DueAt: nothing else names their enquiries. Returns whether there may be more.
 */
export async function withholdOld(db: Db, ofKinds: MailKind[], maxAgeDays: number, log: Pick<Logger, 'error'>) {
  let mayBeMore = false
  for (const kind of ofKinds) {
    if (kind === 'Summary') continue
    const isLate = kind === 'Acknowledgement'
    const limit = isLate ? '24 hours' : `${maxAgeDays} days`
    const reason = kind === 'Notice' ? `${TOO_OLD} ${limit} old.` : `Not sent: after ${limit} it is too late.`
    const old = Prisma.sql`mail."Id" IN (SELECT "Id" FROM "Quvera_Mail"
      WHERE "Status" = 'Pending' AND "Kind" = ${storedKind(kind)} AND "TriedAt" IS NULL
        AND "DueAt" < now() - make_interval(days => ${isLate ? 1 : maxAgeDays}) LIMIT ${CHUNK})`
    const withheld = await transition(db, 'Withheld', old, Prisma.sql`, "LastError" = ${reason}`)
    mayBeMore ||= withheld.length === CHUNK
    const ids = kind === 'Notice' ? withheld.flatMap(({ enquiryId }) => enquiryId ?? []) : []
    const enquiries = await db.enquiry.count({ where: { id: { in: ids }, status: 'New' } })
    if (enquiries > 0)
      log.error(
        { enquiries },
        'notices were withheld for their age, so staff were never told of these enquiries: see `staff mails`',
      )
  }
  return mayBeMore
}

/** For times that a clock ahead has left. A mail that was tried becomes Unknown at its next try: its key may have expired. */
export async function correctFutureTimes(db: Db, ofKinds: MailKind[]): Promise<void> {
  const future = Prisma.sql`> now() + interval '2 hours'` // no wait is longer
  const isOfKind = Prisma.sql`"Kind" = ANY(${storedKinds(ofKinds)})`
  await db.$executeRaw`UPDATE "Quvera_Mail" SET "DueAt" = now() WHERE "Status" = 'Pending' AND ${isOfKind} AND "DueAt" ${future}`
  await db.$executeRaw`
    UPDATE "Quvera_Mail"
    SET "TriedAt" = CASE WHEN "Status" = 'Pending' AND "Kind" <> 'Post' THEN to_timestamp(0) ELSE now() END
    WHERE ${isOfKind} AND "TriedAt" ${future}`
  await db.$executeRaw`UPDATE "Quvera_Mail" SET "ReportedAt" = now() WHERE ${isOfKind} AND "ReportedAt" ${future}`
}
