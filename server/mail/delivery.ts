import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import type { Pace } from './pace.ts'
import { CHUNK, transition } from './queue.ts'
import type { DeliveryEvent, Mailer } from './resend.ts'
import { kinds, mailKinds, storedKinds } from './states.ts'

/* Whether a mail that Resend has accepted arrived: Resend's webhook reports it, or we ask. */

const EVENTS: Record<string, MailStatus> = {
  'email.delivery_delayed': 'Sent',
  'email.delivered': 'Delivered',
  'email.opened': 'Delivered',
  'email.clicked': 'Delivered',
  'email.bounced': 'Bounced',
  'email.suppressed': 'Bounced',
  'email.failed': 'Failed',
  'email.complained': 'Complained',
}

const CHECK_TIMEOUT_MS = 10_000

type Log = Pick<Logger, 'error' | 'warn' | 'info'>
type Change = { mail: bigint; kind: MailKind; state: MailStatus; reason: string | null }

/** Stores the event first: it may come before the result of the send. */
export async function recordEvent(db: Db, log: Log, event: DeliveryEvent, staffEmails: string[]): Promise<void> {
  const { id, resendId, type, reason = null } = event
  if (!Object.hasOwn(EVENTS, type) || !resendId) return
  await db.mailEvent.createMany({ data: { id, resendId, type, reason }, skipDuplicates: true })
  await applyEvents(db, log, resendId, staffEmails)
}

/** Call it after committing an event and after committing a send: the later call sees both. */
export async function applyEvents(db: Db, log: Log, resendId: string, staffEmails: string[]): Promise<void> {
  const events = await db.mailEvent.findMany({ where: { resendId } })
  if (events.length === 0) return
  const row = await db.mail.findFirst({ where: { resendId }, select: { id: true, kind: true } })
  if (!row) return
  const isToSeveral = kinds[row.kind].to === 'staff' && staffEmails.length > 1
  for (const { type, reason } of events) {
    const state = EVENTS[type] ?? 'Sent'
    // To one receiver, bad news replaces `Delivered`. To several, `Delivered` replaces bad news: the mail has reached one.
    const isBad = state !== 'Delivered' && state !== 'Sent'
    const overrules = isToSeveral ? state === 'Delivered' : isBad
    const from = overrules ? Prisma.sql`<> 'Pending'` : Prisma.sql`= 'Sent'`
    const where = Prisma.sql`mail."Id" = ${row.id} AND mail."Status" ${from}`
    const description = [type.replace('email.', '').replace('_', ' '), reason].filter(Boolean).join(': ')
    const reported = state === 'Sent' ? Prisma.empty : Prisma.sql`, "DueAt" = NULL, "ReportedAt" = now()`
    const error = Prisma.sql`, "LastError" = ${state === 'Delivered' ? null : description}`
    const [changed] = await transition(db, state, where, Prisma.sql`${error}${reported}`)
    if (changed || (isToSeveral && isBad)) logEvent(log, { mail: row.id, kind: row.kind, state, reason })
  }
  await db.mailEvent.deleteMany({ where: { id: { in: events.map(({ id }) => id) } } })
}

function logEvent(log: Log, change: Change) {
  if (change.state === 'Sent') return log.info(change, 'a mail is delayed')
  if (change.state === 'Delivered') return log.info(change, 'a mail has arrived')
  if (change.state === 'Complained') return log.warn(change, 'a mail was marked as spam')
  if (kinds[change.kind].to !== 'staff') return log.warn(change, 'a mail did not arrive')
  log.error(
    change,
    'a mail to staff did not arrive at one of its addresses; if it reached nobody, `staff mails` lists it',
  )
}

/** For events that came before the result of a send, if the process died in between. Reads the newest mails only. */
export async function applyMissedEvents(db: Db, log: Log, staffEmails: string[]): Promise<void> {
  const missed = await db.$queryRaw<{ resendId: string }[]>`
    SELECT event."ResendId" AS "resendId"
    FROM unnest(${storedKinds(mailKinds)}) AS kind CROSS JOIN LATERAL (
      SELECT "ResendId" FROM "Quvera_Mail" WHERE "Kind" = kind AND "TriedAt" IS NOT NULL
      ORDER BY "TriedAt" DESC LIMIT ${CHUNK}) mail
    CROSS JOIN LATERAL (
      SELECT "ResendId" FROM "Quvera_MailEvent" WHERE "ResendId" = mail."ResendId" LIMIT 1) event`
  for (const { resendId } of missed) await applyEvents(db, log, resendId, staffEmails)
}

/** Events older than two days belong to no mail of ours. */
export async function deleteOldEvents(db: Db): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "Quvera_MailEvent" WHERE "Id" IN (
      SELECT "Id" FROM "Quvera_MailEvent" WHERE "ReceivedAt" < now() - interval '2 days' LIMIT ${CHUNK})`
}

/** For a site without webhooks: asks Resend about one mail at each poll. Each question counts in Resend's rate limit. */
export function createDeliveryCheck(db: Db, log: Log, staffEmails: string[], mailer: Mailer, pace: Pace) {
  /** False during a check, and for good once Resend has refused to answer this key. */
  let mayCheck = true

  async function check(): Promise<boolean> {
    const resendId = await claimCheck(db)
    if (!resendId) return true
    pace.started()
    const { event, forbidden, headers } = await mailer.readNewestEvent(resendId, AbortSignal.timeout(CHECK_TIMEOUT_MS))
    pace.ended(headers)
    if (event) await recordEvent(db, log, event, staffEmails)
    if (forbidden)
      log.warn('RESEND_API_KEY may only send: whether mails arrive is not known until RESEND_WEBHOOK_SECRET is set')
    return !forbidden
  }

  return async () => {
    if (!mayCheck || pace.capacity().tries === 0) return
    mayCheck = false
    mayCheck = await check().catch(() => true) // a database that fails is reported at the next poll
  }
}

/** A mail is checked again when its age has doubled. */
async function claimCheck(db: Db): Promise<string | undefined> {
  const [due] = await db.$queryRaw<{ resendId: string }[]>`
    UPDATE "Quvera_Mail" SET "DueAt" = CASE WHEN "TriedAt" > now() - interval '1 day' THEN now() + (now() - "TriedAt") END
    WHERE "Id" = (
      SELECT "Id" FROM unnest(${storedKinds(mailKinds)}) AS kind CROSS JOIN LATERAL (
        SELECT "Id", "DueAt" FROM "Quvera_Mail"
        WHERE "Status" = 'Sent' AND "Kind" = kind AND "DueAt" BETWEEN now() - interval '2 days' AND now()
        ORDER BY "DueAt" LIMIT 1) first
      ORDER BY "DueAt" LIMIT 1)
    RETURNING "ResendId" AS "resendId"`
  return due?.resendId
}
