import type { Db } from '../database/database.ts'
import type { MailStatus } from '../database/generated/enums.ts'
import { states } from './states.ts'

/* How many mails are owed, and for how long: for who watches the site. */

/** A mail that waits longer than this wants somebody's attention. */
const OVERDUE_SECONDS = 15 * 60

export interface Backlog {
  pending: number
  failed: number
  unknown: number
  /** Age of the oldest enquiry or subscription about which a mail is still to be sent. */
  oldestPendingSeconds: number
  overdue: boolean
}

export async function readBacklog(db: Db): Promise<Backlog> {
  const [row] = await db.$queryRaw<[Omit<Backlog, 'overdue'>]>`
    WITH unsent AS (
      SELECT count(*) FILTER (WHERE "Status" = 'Pending' AND "BundledInto" IS NULL)::int AS "pending",
        count(*) FILTER (WHERE "Status" = 'Failed' AND "BundledInto" IS NULL)::int AS "failed",
        count(*) FILTER (WHERE "Status" = 'Unknown' AND "BundledInto" IS NULL)::int AS "unknown",
        min("Id") FILTER (WHERE "Status" = 'Pending' AND coalesce("EnquiryId", "SubscriberId") IS NOT NULL) AS "oldest"
      FROM "Quvera_Mail" WHERE "Status" IN ('Pending', 'Failed', 'Unknown') AND "Kind" <> 'Post'
    )
    SELECT "pending", "failed", "unknown",
      greatest(extract(epoch FROM now() - coalesce(form."ReceivedAt", "SubscribedAt"))::int, 0) AS "oldestPendingSeconds"
    FROM unsent
    LEFT JOIN "Quvera_Mail" oldest ON oldest."Id" = unsent."oldest"
    LEFT JOIN "Quvera_Form" form ON form."Id" = oldest."EnquiryId"
    LEFT JOIN "Quvera_Subscriber" subscriber ON subscriber."Id" = oldest."SubscriberId"`
  return { ...row, overdue: row.oldestPendingSeconds > OVERDUE_SECONDS }
}

/** The mails of a day's enquiries and all that are still owed, from what matters most to what matters least. */
export async function countStates(db: Db) {
  const rows = await db.$queryRaw<{ state: MailStatus; mails: number }[]>`
    SELECT mail."Status" AS "state", count(*)::int AS "mails"
    FROM "Quvera_Mail" mail LEFT JOIN "Quvera_Form" form ON form."Id" = mail."EnquiryId"
    WHERE mail."Kind" <> 'Post'
      AND (form."ReceivedAt" > now() - interval '1 day' OR mail."Status" IN ('Pending', 'Failed', 'Unknown'))
    GROUP BY 1`
  return Object.keys(states).flatMap((state) => rows.filter((row) => row.state === state))
}
