import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'

/** A mail that waits longer than this wants somebody's attention. */
export const MAIL_OVERDUE_SECONDS = 15 * 60
const WATCH_MS = 60_000

export interface MailBacklog {
  pending: number
  failed: number
  unknown: number
  /** Age of the oldest mail that is still to be sent. */
  oldestPendingSeconds: number
  overdue: boolean
  /** Resend's word for the newest trouble, without any address. */
  lastError: string | null
}

export async function readMailBacklog(db: Db): Promise<MailBacklog> {
  const [row] = await db.$queryRaw<Omit<MailBacklog, 'overdue'>[]>`
    WITH unsent AS (
      SELECT count(*) FILTER (WHERE "Status" = 'Pending')::int AS "pending",
        count(*) FILTER (WHERE "Status" = 'Failed')::int AS "failed",
        count(*) FILTER (WHERE "Status" = 'Unknown')::int AS "unknown",
        min("Id") FILTER (WHERE "Status" = 'Pending' AND "EnquiryId" IS NOT NULL) AS "oldest",
        max("Id") FILTER (WHERE "LastError" IS NOT NULL) AS "newestTrouble"
      FROM "Quvera_Mail" WHERE "Status" IN ('Pending', 'Failed', 'Unknown')
    )
    SELECT "pending", "failed", "unknown",
      coalesce(extract(epoch FROM now() - form."ReceivedAt")::int, 0) AS "oldestPendingSeconds",
      split_part(trouble."LastError", ':', 1) AS "lastError"
    FROM unsent
    LEFT JOIN "Quvera_Mail" oldest ON oldest."Id" = unsent."oldest"
    LEFT JOIN "Quvera_Form" form ON form."Id" = oldest."EnquiryId"
    LEFT JOIN "Quvera_Mail" trouble ON trouble."Id" = unsent."newestTrouble"`
  if (!row) throw new Error('An aggregate without GROUP BY returned no row')
  return { ...row, overdue: row.oldestPendingSeconds > MAIL_OVERDUE_SECONDS }
}

/** Warns for as long as a mail is overdue, first when the server starts. Returns what ends it. */
export function watchMailBacklog(db: Db, log: Pick<Logger, 'warn'>): () => void {
  async function look() {
    try {
      const { overdue, oldestPendingSeconds, pending } = await readMailBacklog(db)
      if (overdue) log.warn({ oldestPendingSeconds, pending }, 'mails wait longer than they should')
    } catch {
      // What cannot be read is reported by whoever needs it.
    }
  }
  look()
  const timer = setInterval(look, WATCH_MS)
  return () => clearInterval(timer)
}
