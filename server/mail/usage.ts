import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import type { Env } from '../env.ts'
import { allowanceOf, type Budget, type CountByKind } from './quota.ts'
import { mailKinds, storedKind, storedKinds } from './states.ts'

/* Counts of mails: for the sender, to know how many may go, and for monitoring. */

/** A kind is not sent while so many of its last reported mails bounced or were marked as spam. */
const REPORTED_COUNT = 20
const BOUNCED_MIN = 5
/** Of a kind, so that the cost does not grow. */
const BACKLOG_MAX = 10_000
const OVERDUE_SECONDS = 15 * 60
const TO_STAFF: MailKind[] = ['Summary', 'Notice']

export interface Usage {
  /** Tried in the last 24 hours, refused ones included. */
  used: CountByKind
  /** A notice of suspected spam, without DueAt, waits for a summary. */
  hasNoticeForSummary: boolean
  hasUntriedNotice: boolean
  hasUntriedSummary: boolean
  sinceLastSummaryMs: number | null
  bouncesTooOften: { Acknowledgement: boolean; Confirmation: boolean }
  now: Date
}

export function budgetOf({ MAIL_DAILY_BUDGET: mails, STAFF_EMAILS: { length: receivers } }: Env): Budget {
  return { mails, receivers }
}

export function allowedNow(env: Env, { used, bouncesTooOften }: Pick<Usage, 'used' | 'bouncesTooOften'>): CountByKind {
  const allowed = allowanceOf(budgetOf(env), used)
  if (bouncesTooOften.Acknowledgement) allowed.Acknowledgement = 0
  if (bouncesTooOften.Confirmation || !env.PUBLIC_URL) allowed.Confirmation = 0 // without PUBLIC_URL its link leads nowhere
  return allowed
}

/** Counts end at the budget. */
export async function readUsage(db: Db, budget: Budget): Promise<Usage> {
  const used = (kind: MailKind) => Prisma.sql`${kind}::text, (SELECT count(*) FROM (
    SELECT FROM "Quvera_Mail" WHERE "Kind" = ${storedKind(kind)} AND "TriedAt" > now() - interval '24 hours'
    ORDER BY "TriedAt" DESC LIMIT ${budget.mails}) used)`
  const bouncesTooOften = (kind: MailKind) =>
    Prisma.sql`${kind}::text, (SELECT count(*) FILTER (WHERE "Status" IN ('Bounced', 'Complained')) >= ${BOUNCED_MIN} FROM (
      SELECT "Status" FROM "Quvera_Mail" WHERE "Kind" = ${storedKind(kind)} AND "ReportedAt" > now() - interval '24 hours'
      ORDER BY "ReportedAt" DESC LIMIT ${REPORTED_COUNT}) last)`
  const notice = Prisma.sql`SELECT TRUE FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "Kind" = 'Staff'`
  const [usage] = await db.$queryRaw<[Usage]>`
    SELECT json_build_object(${Prisma.join(mailKinds.map(used))}) AS "used",
      (${notice} AND "DueAt" IS NULL ORDER BY "DueAt" LIMIT 1) IS TRUE AS "hasNoticeForSummary",
      (${notice} AND "DueAt" <= now() AND "TriedAt" IS NULL ORDER BY "DueAt" LIMIT 1) IS TRUE AS "hasUntriedNotice",
      EXISTS (SELECT FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "Kind" = 'Summary' AND "TriedAt" IS NULL) AS "hasUntriedSummary",
      (SELECT extract(epoch FROM now() - max("TriedAt"))::float * 1000 FROM "Quvera_Mail" WHERE "Kind" = 'Summary') AS "sinceLastSummaryMs",
      json_build_object(${bouncesTooOften('Acknowledgement')}, ${bouncesTooOften('Confirmation')}) AS "bouncesTooOften", now() AS "now"`
  return usage
}

/** For monitoring. Only the age of mails to staff counts: others may wait a day for their share of the budget. */
export async function readBacklog(db: Db) {
  const first = (state: MailStatus, ofKinds: MailKind[], limit: number) => Prisma.sql`
    FROM unnest(${storedKinds(ofKinds)}) AS kind CROSS JOIN LATERAL (
      SELECT "DueAt" FROM "Quvera_Mail" WHERE "Status" = ${state}::"Quvera_MailStatus" AND "Kind" = kind
      ORDER BY "DueAt" LIMIT ${limit}) first`
  const countOf = (state: MailStatus, ofKinds: MailKind[] = mailKinds) =>
    Prisma.sql`(SELECT count(*)::int ${first(state, ofKinds, BACKLOG_MAX)})`
  type Figure = 'pending' | 'failed' | 'unknown' | 'pendingPosts' | 'failedPosts' | 'oldestPendingSeconds'
  const [figures] = await db.$queryRaw<[Record<Figure, number>]>`
    SELECT ${countOf('Pending')} AS "pending", ${countOf('Failed')} AS "failed", ${countOf('Unknown')} AS "unknown",
      ${countOf('Pending', ['Post'])} AS "pendingPosts", ${countOf('Failed', ['Post'])} AS "failedPosts",
      coalesce(greatest(0, extract(epoch FROM now() - least(
        (SELECT min("DueAt") ${first('Pending', TO_STAFF, 1)}),
        (SELECT min("TriedAt") FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "TriedAt" IS NOT NULL
          AND "Kind" = ANY(${storedKinds(TO_STAFF)}))))), 0)::int AS "oldestPendingSeconds"`
  return { ...figures, isOverdue: figures.oldestPendingSeconds > OVERDUE_SECONDS }
}

export async function warnIfOverdue(db: Db, log: Pick<Logger, 'warn'>): Promise<boolean> {
  const { isOverdue, oldestPendingSeconds, pending } = await readBacklog(db)
  if (isOverdue) log.warn({ oldestPendingSeconds, pending }, 'mails wait longer than they should: see `staff mails`')
  return isOverdue
}
