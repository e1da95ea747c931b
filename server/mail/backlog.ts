import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { mailKinds, storedKinds } from './states.ts'

/*
 * Figures for monitoring: how many mails wait or did not arrive, and for how long mails to staff and the oldest New enquiry
 * have waited.
 */

/** Counts of a kind end here, so that the cost does not grow. */
const COUNT_MAX = 10_000
const OVERDUE_SECONDS = 15 * 60

/** Only the age of mails to staff counts: others may wait a day for their share of the budget. */
export async function readBacklog(db: Db) {
  const first = (state: MailStatus, ofKinds: MailKind[], limit: number) => Prisma.sql`
    FROM unnest(${storedKinds(ofKinds)}) AS kind CROSS JOIN LATERAL (
      SELECT "DueAt" FROM "Quvera_Mail" WHERE "Status" = ${state}::"Quvera_MailStatus" AND "Kind" = kind
      ORDER BY "DueAt" LIMIT ${limit}) first`
  const countOf = (state: MailStatus, ofKinds: MailKind[] = mailKinds) =>
    Prisma.sql`(SELECT count(*)::int ${first(state, ofKinds, COUNT_MAX)})`
  const toStaff: MailKind[] = ['Summary', 'Notice']
  type Figure = 'pending' | 'failed' | 'unknown' | 'bounced' | 'complained' | 'pendingPosts' | 'failedPosts'
  const [figures] = await db.$queryRaw<[Record<Figure | 'oldestPendingSeconds', number>]>`
    SELECT ${countOf('Pending')} AS "pending", ${countOf('Failed')} AS "failed", ${countOf('Unknown')} AS "unknown",
      ${countOf('Bounced')} AS "bounced", ${countOf('Complained')} AS "complained",
      ${countOf('Pending', ['Post'])} AS "pendingPosts", ${countOf('Failed', ['Post'])} AS "failedPosts",
      coalesce(greatest(0, extract(epoch FROM now() - least(
        (SELECT min("DueAt") ${first('Pending', toStaff, 1)}),
        (SELECT min("TriedAt") FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "TriedAt" IS NOT NULL
          AND "Kind" = ANY(${storedKinds(toStaff)}))))), 0)::int AS "oldestPendingSeconds"`
  return { ...figures, isOverdue: figures.oldestPendingSeconds > OVERDUE_SECONDS }
}

export async function warnIfOverdue(db: Db, log: Pick<Logger, 'warn'>): Promise<boolean> {
  const { isOverdue, oldestPendingSeconds, pending } = await readBacklog(db)
  if (isOverdue) log.warn({ oldestPendingSeconds, pending }, 'mails wait longer than they should: see `staff mails`')
  return isOverdue
}

export async function readOldestNewEnquiry(db: Db) {
  const oldest = await db.enquiry.findFirst({ where: { status: 'New' }, orderBy: { receivedAt: 'asc' } })
  if (!oldest) return undefined
  const seconds = Math.max(0, Math.round((Date.now() - oldest.receivedAt.getTime()) / 1000))
  return { reference: oldest.reference, seconds }
}
