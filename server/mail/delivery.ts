import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { takeLease } from '../database/lease.ts'
import { DAY_MS } from '../format.ts'
import { CHUNK, transition } from './queue.ts'
import type { DeliveryEvent } from './resend.ts'
import { kinds, mailKinds, undeliveredStates } from './states.ts'

/* What became of a mail that Resend has taken: it sends events, or is asked. */

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

/** What counts more, in whatever order events come. */
const TO_ONE: MailStatus[][] = [['Sent'], ['Delivered'], ['Bounced', 'Failed'], ['Complained']]
/** A mail to several of staff has arrived when it has reached one. */
const TO_SEVERAL: MailStatus[][] = [['Sent'], ['Bounced', 'Failed', 'Complained'], ['Delivered']]

type Log = Pick<Logger, 'error' | 'warn' | 'info'>

/** Stores an event, then applies it: it may come before our own record of the send. `staff` receive mails to staff. */
export async function recordEvent(db: Db, log: Log, event: DeliveryEvent, staff: string[]): Promise<void> {
  const { id, resendId, type, reason = null } = event
  if (!Object.hasOwn(EVENTS, type) || !resendId) return
  await db.mailEvent.createMany({ data: { id, resendId, type, reason }, skipDuplicates: true })
  await applyEvents(db, log, event, staff)
}

/** Applies the events of one mail, if it is ours. Called after an event or a send was committed: the later call sees both. */
export async function applyEvents(db: Db, log: Log, about: Pick<DeliveryEvent, 'resendId' | 'to'>, staff: string[]) {
  const { resendId } = about
  const events = await db.mailEvent.findMany({ where: { resendId } })
  if (events.length === 0) return
  const mail = await db.mail.findFirst({ where: { resendId }, select: { id: true, kind: true } })
  if (!mail) return
  const isToStaff = kinds[mail.kind].to === 'staff'
  const order = isToStaff && staff.length > 1 ? TO_SEVERAL : TO_ONE
  for (const { type, reason } of events) {
    const to = EVENTS[type] ?? 'Sent'
    const fate = { mail: mail.id, kind: mail.kind, state: to, reason }
    const rank = order.findIndex((states) => states.includes(to))
    const before = order.slice(0, Math.max(rank, 1)).flat()
    const words = [type.replace('email.', '').replace('_', ' '), reason].filter(Boolean).join(': ')
    const where = Prisma.sql`mail."Id" = ${mail.id} AND mail."Status" = ANY(${before}::text[]::"Quvera_MailStatus"[])`
    const change = Prisma.sql`, "LastError" = ${to === 'Delivered' ? null : words}`
    const decided = to === 'Sent' ? change : Prisma.sql`${change}, "DueAt" = now()`
    const [changed] = await transition(db, to, where, decided)
    if (changed || (order === TO_SEVERAL && undeliveredStates.includes(to)))
      await report(db, log, fate, about.to ?? [], staff)
  }
  await db.mailEvent.deleteMany({ where: { id: { in: events.map(({ id }) => id) } } })
}

/**
 * Applies events that came before the mail's own record, where the process died before it applied them. Looks at the
 * newest mails of each kind, so that its cost does not grow with the events of other mails.
 */
export async function applyMissedEvents(db: Db, log: Log, staff: string[]): Promise<void> {
  const missed = await db.$queryRaw<{ resendId: string }[]>`
    SELECT DISTINCT event."ResendId" AS "resendId"
    FROM unnest(${mailKinds}::text[]::"Quvera_MailKind"[]) AS kind CROSS JOIN LATERAL (
      SELECT "ResendId" FROM "Quvera_Mail" WHERE "Kind" = kind AND "TriedAt" IS NOT NULL
      ORDER BY "TriedAt" DESC LIMIT ${CHUNK}) mail
    JOIN "Quvera_MailEvent" event ON event."ResendId" = mail."ResendId"`
  for (const about of missed) await applyEvents(db, log, about, staff)
}

/** Of mails that are not ours, or whose record is lost: a chunk at a time, so that nothing waits for it. */
export async function deleteOldEvents(db: Db): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "Quvera_MailEvent" WHERE "Id" IN (
      SELECT "Id" FROM "Quvera_MailEvent" WHERE "ReceivedAt" < now() - interval '2 days' LIMIT ${CHUNK})`
}

/** An address of several in STAFF_EMAILS is told of once a day, as `s…@shop.example`. */
async function report(db: Db, log: Log, fate: { kind: MailKind; state: MailStatus }, to: string[], staff: string[]) {
  if (fate.state === 'Delivered' || fate.state === 'Sent') return log.info(fate, 'a mail has arrived, or is delayed')
  if (kinds[fate.kind].to !== 'staff') return log.warn(fate, 'a mail did not arrive')
  if (staff.length === 1) return log.error(fate, 'a mail to staff did not arrive: they may not know of an enquiry')
  const address = to[0] && to.length === 1 ? to[0].replace(/^(.)[^@]*/, '$1…') : 'one'
  const isFirstToday = await takeLease(db, `no mail arrives at ${address}`, crypto.randomUUID(), DAY_MS / 1000)
  if (isFirstToday)
    log.error(
      { ...fate, address },
      'no mail arrives at an address of STAFF_EMAILS; `staff mails` tells what reached nobody',
    )
}

/** The mail about which Resend is to be asked now, if there is one. A question without an answer is not repeated at once. */
export async function claimQuestion(db: Db): Promise<string | undefined> {
  const [due] = await db.$queryRaw<{ resendId: string }[]>`
    UPDATE "Quvera_Mail" SET "DueAt" = CASE WHEN "TriedAt" > now() - interval '1 day' THEN now() + (now() - "TriedAt") END
    WHERE "Id" = (
      SELECT "Id" FROM unnest(${mailKinds}::text[]::"Quvera_MailKind"[]) AS kind CROSS JOIN LATERAL (
        SELECT "Id", "DueAt" FROM "Quvera_Mail"
        WHERE "Status" = 'Sent' AND "Kind" = kind AND "DueAt" BETWEEN now() - interval '2 days' AND now()
        ORDER BY "DueAt" LIMIT 1) first
      ORDER BY "DueAt" LIMIT 1)
    RETURNING "ResendId" AS "resendId"`
  return due?.resendId
}
