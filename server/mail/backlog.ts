import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { staffCommand } from '../format.ts'

/* Figures for monitoring: how many mails wait or did not arrive, and for how long the oldest has waited. */

/**
 * At most so many rows are counted for each kind and state, so that the cost does not grow. `ORDER BY "DueAt"` makes PostgreSQL
 * use the index.
 */
const COUNT_MAX = 10_000
const OVERDUE_SECONDS = 15 * 60

export async function readBacklog(db: Db) {
  const counts = await db.$queryRaw<{ kind: MailKind; state: MailStatus; count: number }[]>`
    SELECT kind, state, (SELECT count(*)::int FROM (
      SELECT FROM "Quvera_Mail" WHERE "Status" = state AND "Kind" = kind ORDER BY "DueAt" LIMIT ${COUNT_MAX}) first) AS "count"
    FROM unnest(enum_range(NULL::"Quvera_MailKind")) AS kind CROSS JOIN unnest(enum_range(NULL::"Quvera_MailStatus")) AS state
    WHERE state IN ('Pending', 'Failed', 'Unknown', 'Bounced', 'Complained')`
  const countOf = (state: MailStatus, isPost = false) =>
    counts
      .filter((each) => each.state === state && (each.kind === 'Post') === isPost)
      .reduce((sum, { count }) => sum + count, 0)
  const oldestPendingSeconds = await readOldestPendingSeconds(db)
  return {
    pending: countOf('Pending'),
    failed: countOf('Failed'),
    unknown: countOf('Unknown'),
    bounced: countOf('Bounced'),
    complained: countOf('Complained'),
    pendingPosts: countOf('Pending', true),
    failedPosts: countOf('Failed', true),
    oldestPendingSeconds,
    isOverdue: oldestPendingSeconds > OVERDUE_SECONDS,
  }
}

/** Of mails to staff only: others may wait a day for their share of the budget. The DueAt of a tried mail is its next try. */
async function readOldestPendingSeconds(db: Db): Promise<number> {
  const [{ seconds }] = await db.$queryRaw<[{ seconds: number }]>`
    SELECT coalesce(greatest(0, extract(epoch FROM now() - least(
      (SELECT min("DueAt") FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "Kind" = 'Notice'),
      (SELECT min("DueAt") FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "Kind" = 'Summary'),
      (SELECT min("TriedAt") FROM "Quvera_Mail"
        WHERE "Status" = 'Pending' AND "TriedAt" IS NOT NULL AND "Kind" IN ('Notice', 'Summary'))))), 0)::int AS "seconds"`
  return seconds
}

export async function warnIfOverdue(db: Db, log: Pick<Logger, 'warn'>): Promise<void> {
  const { isOverdue, oldestPendingSeconds, pending } = await readBacklog(db)
  if (!isOverdue) return
  log.warn({ oldestPendingSeconds, pending }, `mails wait longer than they should: see ${staffCommand('mails')}`)
}

export async function readOldestNewEnquiry(db: Db) {
  const oldest = await db.enquiry.findFirst({ where: { status: 'New' }, orderBy: { receivedAt: 'asc' } })
  if (!oldest) return undefined
  const seconds = Math.max(0, Math.round((Date.now() - oldest.receivedAt.getTime()) / 1000))
  return { reference: oldest.reference, seconds }
}
