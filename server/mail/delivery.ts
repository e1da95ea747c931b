import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import type { MailKind } from './claims.ts'

/** Something Resend tells of a mail it has taken. */
export interface DeliveryEvent {
  /** Names the event: a repeat has the same. */
  id: string
  resendId: string
  /** Such as `email.delivered`. */
  type: string
  reason?: string | undefined
}

/** What these events mean. The highest rank of all that were told counts, in whatever order they came. */
const EVENTS: Record<string, { rank: number; status: string }> = {
  'email.delivery_delayed': { rank: 1, status: 'Sent' },
  'email.delivered': { rank: 2, status: 'Delivered' },
  'email.opened': { rank: 2, status: 'Delivered' },
  'email.clicked': { rank: 2, status: 'Delivered' },
  'email.bounced': { rank: 3, status: 'Bounced' },
  'email.suppressed': { rank: 3, status: 'Bounced' },
  'email.failed': { rank: 3, status: 'Failed' },
  'email.complained': { rank: 4, status: 'Complained' },
}
const REASON_MAX = 400
/** An event that no mail claims within the lifetime of a key belongs to none of ours. */
const KEPT_MS = 2 * 86_400_000

interface Changed {
  id: bigint
  kind: MailKind
  status: string
}

/**
 * Takes an event down and applies it to its mail. It may come before our own record of the send: then it waits in
 * `Quvera_MailEvent` for `applyEvents`.
 */
export async function recordEvent(db: Db, { id, resendId, type, reason }: DeliveryEvent): Promise<Changed[]> {
  if (!EVENTS[type]) return []
  const data = { id, resendId, type, reason: reason?.slice(0, REASON_MAX) ?? null }
  await db.mailEvent.createMany({ data, skipDuplicates: true })
  await db.mailEvent.deleteMany({ where: { receivedAt: { lt: new Date(Date.now() - KEPT_MS) } } })
  return applyEvents(db)
}

/**
 * Applies the events of mails whose ResendId is recorded, and forgets them. Both sides call it after their own commit,
 * so whichever is later sees both.
 */
export function applyEvents(db: Db): Promise<Changed[]> {
  const meanings = JSON.stringify(Object.entries(EVENTS).map(([type, meaning]) => ({ type, ...meaning })))
  return db.$queryRaw<Changed[]>`
    WITH meaning AS (
      SELECT * FROM json_to_recordset(${meanings}::json) AS meaning (type text, rank int, status text)
    ), told AS (
      DELETE FROM "Quvera_MailEvent" event
      WHERE EXISTS (SELECT FROM "Quvera_Mail" mail WHERE mail."ResendId" = event."ResendId")
      RETURNING "ResendId", "Type", "Reason"
    ), final AS (
      SELECT DISTINCT ON (told."ResendId") told.*, meaning.rank, meaning.status
      FROM told JOIN meaning ON meaning.type = told."Type"
      ORDER BY told."ResendId", meaning.rank DESC
    )
    UPDATE "Quvera_Mail" mail
    SET "Status" = final.status::"Quvera_MailStatus",
      "LastError" = CASE final.rank WHEN 2 THEN NULL
        ELSE replace(replace(final."Type", 'email.', ''), '_', ' ') || coalesce(': ' || final."Reason", '') END
    FROM final
    WHERE mail."ResendId" = final."ResendId"
      AND mail."Status" IN ('Sent', 'Delivered', 'Bounced', 'Failed', 'Complained')
      AND final.rank > CASE mail."Status" WHEN 'Sent' THEN 0 ELSE
        (SELECT max(rank) FROM meaning WHERE status = mail."Status"::text) END
    RETURNING mail."Id" AS "id", mail."Kind"::text AS "kind", mail."Status"::text AS "status"`
}

/** Says in the log what staff must know: above all that nobody has been told of an enquiry. */
export function logChanges(log: Pick<Logger, 'error' | 'warn' | 'info'>, changes: Changed[]): void {
  for (const { id, kind, status } of changes) {
    const fields = { mail: id, kind, status }
    if (status === 'Delivered' || status === 'Sent') log.info(fields, 'a mail has arrived, or is delayed')
    else if (kind === 'Staff') log.error(fields, 'a notice did not arrive: staff have not been told of an enquiry')
    else log.warn(fields, 'a mail did not arrive')
  }
}
