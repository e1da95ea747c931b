import type { Db } from '../database/database.ts'
import type { MailStatus } from '../database/generated/enums.ts'

/* Figures for monitoring: how many mails wait or did not arrive, and for how long the oldest has waited. */

/** Of those that wait, and of those that did not arrive, so that the cost does not grow. */
const COUNT_MAX = 50_000

/** Without confirmations and links that did not arrive: anybody can ask for them. */
export async function readBacklog(db: Db) {
  const counts = await db.$queryRaw<{ isPost: boolean; state: MailStatus; count: number }[]>`
    SELECT "Kind" = 'Post' AS "isPost", "Status"::text AS "state", count(*)::int AS "count" FROM (
      (SELECT "Kind", "Status" FROM "Quvera_Mail" WHERE "Status" = 'Pending' ORDER BY "Kind", "DueAt" LIMIT ${COUNT_MAX})
      UNION ALL (SELECT "Kind", "Status" FROM "Quvera_Mail"
        WHERE "Status" IN ('Bounced', 'Failed', 'Complained', 'Unknown') ORDER BY "Kind", "Id" LIMIT ${COUNT_MAX})
    ) first WHERE "Kind" NOT IN ('Confirmation', 'SignIn') OR "Status" = 'Pending' GROUP BY 1, 2`
  const countOf = (state: MailStatus, isPost = false) =>
    counts.find((each) => each.state === state && each.isPost === isPost)?.count ?? 0
  const [{ seconds }] = await db.$queryRaw<[{ seconds: number }]>`
    SELECT coalesce(greatest(0, extract(epoch FROM now() - min("QueuedAt"))), 0)::int AS "seconds" FROM (
      (SELECT "QueuedAt" FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "Kind" = 'Notice' ORDER BY "DueAt" LIMIT 100)
      UNION ALL (SELECT "QueuedAt" FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "Kind" = 'Summary' ORDER BY "DueAt" LIMIT 100)
    ) first`
  return {
    pending: countOf('Pending'),
    failed: countOf('Failed'),
    unknown: countOf('Unknown'),
    bounced: countOf('Bounced'),
    complained: countOf('Complained'),
    pendingPosts: countOf('Pending', true),
    failedPosts: countOf('Failed', true),
    oldestPendingSeconds: seconds,
  }
}
