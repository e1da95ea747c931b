import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { toEnquiry } from '../enquiries/enquiry.ts'
import { kinds, NOT_ALONE, statesBefore, untoldStates } from './states.ts'

/*
 * The queue: rows of Quvera_Mail that are Pending. No transaction is open during a try. All times are the database's.
 * prisma/schema.prisma says what DueAt and TriedAt mean.
 */

export type StoredMail = Awaited<ReturnType<typeof readMails>>[number]

/** A mail that this process may send now, until its claim ends. */
export type ClaimedMail = StoredMail & Claim

interface Claim {
  id: bigint
  /** Its DueAt and TriedAt before the claim. */
  dueAtUnclaimed: Date
  triedAtUnclaimed: Date | null
  /** Since `triedAtUnclaimed`. */
  triedHoursAgo: number | null
}

/** The result of a try. */
export interface Result {
  status: MailStatus
  lastError: string | null
  /** Pending: when to try again, unless `isTryUndone`. */
  dueInMs?: number
  resendId?: string
  /** This try sent nothing: TriedAt becomes what it was before the claim, and so does DueAt if the mail stays Pending. */
  isTryUndone?: true
  /** How long to pause all sending. */
  pauseMs?: number
  /** Refused, perhaps for a reason that only this mail has: the other due mails are tried before it is tried again. */
  isRefused?: true
}

/** Rows in one statement, because of its time limit. */
const CHUNK = 1000
const RETRY_MAX_SECONDS = 300
const ACKNOWLEDGEMENT_MAX_DAYS = 1

/**
 * The only statement that changes the state of mails, besides server/database/after-pg-restore.sql. Skips mails that may not have the
 * new one, and returns how many changed.
 * @param dueAt becomes DueAt. Without it DueAt becomes now() for a notice that told nobody, and NULL for any other mail
 */
export async function transition(
  db: Pick<Db, '$queryRaw'>,
  to: MailStatus,
  where: Prisma.Sql,
  change: Prisma.Sql,
  dueAt?: Prisma.Sql,
): Promise<number> {
  const dueAtIfUntold = Prisma.sql`CASE WHEN mail."Kind" = 'Notice' AND ${untoldStates.includes(to)} THEN now() END`
  const changed = await db.$queryRaw<unknown[]>`
    UPDATE "Quvera_Mail" mail SET "Status" = ${to}::"Quvera_MailStatus", "DueAt" = ${dueAt ?? dueAtIfUntold}, ${change}
    WHERE mail."Status" = ANY(${statesBefore(to)}::text[]::"Quvera_MailStatus"[]) AND ${where}
    RETURNING mail."Id"`
  return changed.length
}

/** Mails to staff are claimed oldest first, those to visitors newest first. */
export function claimUntried(db: Db, kind: MailKind, most: number, leaseSeconds: number, except?: Set<bigint>) {
  const where = Prisma.sql`"Kind" = ${kind}::"Quvera_MailKind" AND "TriedAt" IS NULL`
  return claim(db, where, kinds[kind].to === 'visitor' ? 'DESC' : 'ASC', most, leaseSeconds, except)
}

/** Mails that an earlier try may have sent. They count in the budget already. */
export function claimTried(db: Db, ofKinds: MailKind[], most: number, leaseSeconds: number, except?: Set<bigint>) {
  const where = Prisma.sql`"Kind" = ANY(${ofKinds}::text[]::"Quvera_MailKind"[]) AND "TriedAt" IS NOT NULL`
  return claim(db, where, 'ASC', most, leaseSeconds, except)
}

/**
 * Two processes may select the same rows. The second one waits for the first, then finds that the outer condition no longer
 * holds, and leaves them out.
 */
async function claim(
  db: Db,
  where: Prisma.Sql,
  order: 'ASC' | 'DESC',
  most: number,
  leaseSeconds: number,
  except: Set<bigint> = new Set(),
): Promise<ClaimedMail[]> {
  const claims = await db.$queryRaw<Claim[]>`
    UPDATE "Quvera_Mail" mail
    SET "Attempts" = mail."Attempts" + 1,
      "DueAt" = now() + make_interval(secs => ${leaseSeconds}),
      "TriedAt" = coalesce(mail."TriedAt", now())
    FROM (SELECT "Id", "DueAt", "TriedAt" FROM "Quvera_Mail"
      WHERE "Status" = 'Pending' AND "DueAt" <= now() AND ${where} AND "Id" <> ALL(${[...except].map(String)}::bigint[])
      ORDER BY "DueAt" ${Prisma.raw(order)} LIMIT ${most}) due
    WHERE mail."Id" = due."Id" AND mail."Status" = 'Pending' AND mail."DueAt" <= now()
    RETURNING mail."Id" AS "id", due."DueAt" AS "dueAtUnclaimed", due."TriedAt" AS "triedAtUnclaimed",
      (extract(epoch FROM now() - due."TriedAt") / 3600)::float AS "triedHoursAgo"`
  const mails = await readMails(db, claims)
  return claims.flatMap((each) => mails.filter(({ id }) => id === each.id).map((mail) => ({ ...mail, ...each })))
}

/**
 * Leaves out mails of an enquiry that was erased meanwhile, unless they have a key of their own: `writeMessage` finds out
 * whether the enquiry or subscriber of those is gone.
 */
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

/**
 * Changes nothing if another process has claimed the mail since, or a delivery event was earlier: then those count.
 * @returns whether the result counts
 */
export async function recordResult(db: Db, mail: ClaimedMail, result: Result): Promise<boolean> {
  const { status, lastError, dueInMs = 0, resendId = null, isTryUndone } = result
  let dueAt = Prisma.sql`now() + make_interval(secs => ${dueInMs / 1000})`
  let triedAt = Prisma.sql`"TriedAt"`
  if (status === 'Sent') triedAt = Prisma.sql`now()` // the budget counts from then on, as Resend does
  if (isTryUndone) {
    dueAt = Prisma.sql`${mail.dueAtUnclaimed}`
    triedAt = Prisma.sql`${mail.triedAtUnclaimed}::timestamptz`
  }
  const changed = await transition(
    db,
    status,
    Prisma.sql`mail."Id" = ${mail.id} AND mail."Attempts" = ${mail.attempts} AND mail."Status" = 'Pending'`,
    Prisma.sql`"LastError" = ${lastError}, "ResendId" = coalesce(${resendId}, "ResendId"), "TriedAt" = ${triedAt}`,
    status === 'Pending' ? dueAt : undefined,
  )
  return changed > 0
}

/** Exponential, with jitter. */
export function backOffMs(attempts: number, baseSeconds: number): number {
  const seconds = Math.min(baseSeconds * 2 ** Math.min(attempts - 1, 10), RETRY_MAX_SECONDS)
  return seconds * 1000 * (0.75 + Math.random() / 2)
}

/** Withholds what has been due for too long. Not summaries: nothing else names their enquiries. */
export async function withholdOld(db: Db, ofKinds: MailKind[], maxAgeDays: number): Promise<void> {
  for (const kind of ofKinds) {
    const days = kind === 'Acknowledgement' ? ACKNOWLEDGEMENT_MAX_DAYS : maxAgeDays
    const reason = `Not sent: after ${days === 1 ? '24 hours' : `${days} days`} it is too late.`
    if (kind !== 'Summary') await withhold(db, kind, days, reason)
  }
}

/** Withholds all due notices when their share is used up: a summary tells of their enquiries. */
export function withholdNotices(db: Db): Promise<void> {
  return withhold(db, 'Notice', 0, `${NOT_ALONE}: there were too many.`)
}

/** Withholds the untried mails of a kind that have been due for at least so many days. */
async function withhold(db: Db, kind: MailKind, days: number, reason: string): Promise<void> {
  const old = Prisma.sql`mail."TriedAt" IS NULL AND mail."Id" IN (SELECT "Id" FROM "Quvera_Mail"
    WHERE "Status" = 'Pending' AND "Kind" = ${kind}::"Quvera_MailKind" AND "TriedAt" IS NULL
      AND "DueAt" <= now() - make_interval(days => ${days}) LIMIT ${CHUNK})`
  let changed: number
  do changed = await transition(db, 'Withheld', old, Prisma.sql`"LastError" = ${reason}`)
  while (changed === CHUNK)
}
