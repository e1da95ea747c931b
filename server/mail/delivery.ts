import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { scrub } from '../errors.ts'
import { DAY_MS } from '../words.ts'
import { holdIfUnwelcome } from './plan.ts'
import type { DeliveryEvent, Mailer } from './resend.ts'
import { kinds, statesBefore } from './states.ts'

/*
 * What became of a mail that Resend has taken: it tells by events, or is asked. Either way an event is taken down first
 * and applied to its mail then, for it may come before our own record of the send.
 */

/** What events mean. The highest rank of all that wait counts, in whatever order they came. */
const EVENTS: Record<string, { rank: number; status: MailStatus }> = {
  'email.delivery_delayed': { rank: 1, status: 'Sent' },
  'email.delivered': { rank: 2, status: 'Delivered' },
  'email.opened': { rank: 2, status: 'Delivered' },
  'email.clicked': { rank: 2, status: 'Delivered' },
  'email.bounced': { rank: 3, status: 'Bounced' },
  'email.suppressed': { rank: 3, status: 'Bounced' },
  'email.failed': { rank: 3, status: 'Failed' },
  'email.complained': { rank: 4, status: 'Complained' },
}
const MEANINGS = JSON.stringify(
  Object.entries(EVENTS).map(([type, meaning]) => ({
    type,
    ...meaning,
    // By hand a mail that failed may become Pending; of its old try nothing is told any more.
    after: statesBefore(meaning.status).filter((state) => state !== 'Pending'),
  })),
)
/** An event that no mail claims within the lifetime of a key belongs to none of ours. */
const KEPT_DAYS = 2

type Log = Pick<Logger, 'error' | 'warn' | 'info'>

export async function recordEvent(db: Db, log: Log, { id, resendId, type, reason }: DeliveryEvent): Promise<void> {
  if (!Object.hasOwn(EVENTS, type) || !resendId) return
  const data = { id, resendId, type, reason: scrub(reason ?? '') || null } // an event may outlive its enquiry
  await db.mailEvent.createMany({ data, skipDuplicates: true })
  await applyEvents(db, log)
}

/**
 * Applies the events of mails whose ResendId is recorded, and forgets them, and those that are too old. Who records an
 * event and who records a send call it after their own commit, so whichever is later sees both.
 */
export async function applyEvents(db: Db, log: Log): Promise<void> {
  const changes = await db.$queryRaw<{ id: bigint; kind: MailKind; status: MailStatus }[]>`
    WITH meaning AS (
      SELECT * FROM json_to_recordset(${MEANINGS}::json) AS meaning (type text, rank int, status text, after text[])
    ), told AS (
      DELETE FROM "Quvera_MailEvent" event
      WHERE EXISTS (SELECT FROM "Quvera_Mail" mail WHERE mail."ResendId" = event."ResendId")
      RETURNING "ResendId", "Type", "Reason"
    ), forgotten AS ( -- by itself: with OR above, PostgreSQL would read all mails
      DELETE FROM "Quvera_MailEvent" WHERE "ReceivedAt" < now() - make_interval(days => ${KEPT_DAYS})
    ), final AS (
      SELECT DISTINCT ON (told."ResendId") told.*, meaning.rank, meaning.status, meaning.after
      FROM told JOIN meaning ON meaning.type = told."Type"
      ORDER BY told."ResendId", meaning.rank DESC
    )
    UPDATE "Quvera_Mail" mail
    SET "Status" = final.status::"Quvera_MailStatus",
      "LastError" = CASE final.rank WHEN 2 THEN NULL
        ELSE replace(replace(final."Type", 'email.', ''), '_', ' ') || coalesce(': ' || final."Reason", '') END
    FROM final
    WHERE mail."ResendId" = final."ResendId" AND mail."Status"::text = ANY (final.after)
    RETURNING mail."Id" AS "id", mail."Kind"::text AS "kind", mail."Status"::text AS "status"`
  for (const { id, kind, status } of changes) {
    const fields = { mail: id, kind, status }
    if (status === 'Delivered' || status === 'Sent') log.info(fields, 'a mail has arrived, or is delayed')
    else if (kinds[kind].alarm) log.error(fields, 'a notice did not arrive: staff have not been told of an enquiry')
    else log.warn(fields, 'a mail did not arrive')
  }
  const isUnwelcome = (kind: MailKind) =>
    changes.some((change) => change.kind === kind && change.status !== 'Delivered')
  const why = 'are held for a day: too many of the last ones were turned away (staff mails release)'
  if (isUnwelcome('Acknowledgement') && (await holdIfUnwelcome(db, 'Acknowledgement')))
    log.error(`acknowledgements ${why}`)
  if (isUnwelcome('Confirmation') && (await holdIfUnwelcome(db, 'Confirmation'))) log.warn(`confirmations ${why}`)
}

const ASK_TIMEOUT_MS = 10_000
/** Resend is asked of a mail when it is so old, and again whenever its age has doubled. */
const FIRST_ASKED_SECONDS = 300
const ASKED_FOR_SECONDS = (2 * DAY_MS) / 1000

/**
 * Where Resend does not tell what became of mails, it is asked of the one that is due, if one is. That counts as asked
 * from here on: a question that is never answered is not put again at once.
 * @returns what was answered; `forbidden`: the key may only send
 */
export async function askDelivery(db: Db, mailer: Mailer, log: Log, signal: AbortSignal) {
  const [due] = await db.$queryRaw<{ resendId: string }[]>`
    UPDATE "Quvera_Mail" SET "CheckedAt" = now()
    WHERE "Id" = (
      SELECT "Id" FROM "Quvera_Mail"
      WHERE "Status" = 'Sent' AND "ResendId" IS NOT NULL
        AND "SentAt" BETWEEN now() - make_interval(secs => ${ASKED_FOR_SECONDS})
          AND now() - make_interval(secs => ${FIRST_ASKED_SECONDS})
        AND ("CheckedAt" IS NULL OR now() - "SentAt" > 2 * ("CheckedAt" - "SentAt"))
      ORDER BY "CheckedAt" NULLS FIRST, "SentAt" LIMIT 1
    )
    RETURNING "ResendId" AS "resendId"`
  if (!due) return undefined
  const answer = await mailer.ask(due.resendId, AbortSignal.any([signal, AbortSignal.timeout(ASK_TIMEOUT_MS)]))
  if (answer.event) await recordEvent(db, log, answer.event)
  if (answer.forbidden)
    log.warn('RESEND_API_KEY may only send: whether mails arrive is not known until RESEND_WEBHOOK_SECRET is set')
  return answer
}
