import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { takeLease } from '../database/lease.ts'
import { DAY_MS } from '../format.ts'
import type { Pace } from './pace.ts'
import { CHUNK, transition } from './queue.ts'
import type { DeliveryEvent, Mailer } from './resend.ts'
import { kinds, mailKinds, storedKinds, undeliveredStates } from './states.ts'

/* Whether a mail that Resend has taken arrived: Resend's webhook reports it, or we ask. */

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

/** The precedence of states: an event replaces only a state of lower precedence, in whatever order events come. */
const TO_ONE: MailStatus[][] = [['Sent'], ['Delivered'], ['Bounced', 'Failed'], ['Complained']]
/** With several receivers a mail has arrived when it has reached one. */
const TO_SEVERAL: MailStatus[][] = [['Sent'], ['Bounced', 'Failed', 'Complained'], ['Delivered']]

const CHECK_TIMEOUT_MS = 10_000

type Log = Pick<Logger, 'error' | 'warn' | 'info'>
type Change = { mail: bigint; kind: MailKind; state: MailStatus; reason: string | null }

/** Stores an event, then applies it: it may come before our own record of the send. `staff` receive mails to staff. */
export async function recordEvent(db: Db, log: Log, event: DeliveryEvent, staff: string[]): Promise<void> {
  const { id, resendId, type, reason = null } = event
  if (!Object.hasOwn(EVENTS, type) || !resendId) return
  await db.mailEvent.createMany({ data: { id, resendId, type, reason }, skipDuplicates: true })
  await applyEvents(db, log, event, staff)
}

/** Applies the events of one mail of ours. Call it after committing an event and after committing a send: the later call sees both. */
export async function applyEvents(db: Db, log: Log, mail: Pick<DeliveryEvent, 'resendId' | 'to'>, staff: string[]) {
  const { resendId, to = [] } = mail
  const events = await db.mailEvent.findMany({ where: { resendId } })
  if (events.length === 0) return
  const row = await db.mail.findFirst({ where: { resendId }, select: { id: true, kind: true } })
  if (!row) return
  const isToSeveral = kinds[row.kind].to === 'staff' && staff.length > 1
  const order = isToSeveral ? TO_SEVERAL : TO_ONE
  for (const { type, reason } of events) {
    const state = EVENTS[type] ?? 'Sent'
    const rank = order.findIndex((states) => states.includes(state))
    const before = order.slice(0, Math.max(rank, 1)).flat()
    const where = Prisma.sql`mail."Id" = ${row.id} AND mail."Status" = ANY(${before}::text[]::"Quvera_MailStatus"[])`
    const description = [type.replace('email.', '').replace('_', ' '), reason].filter(Boolean).join(': ')
    const reported = state === 'Sent' ? Prisma.empty : Prisma.sql`, "DueAt" = NULL, "ReportedAt" = now()`
    const error = Prisma.sql`, "LastError" = ${state === 'Delivered' ? null : description}`
    const [changed] = await transition(db, state, where, Prisma.sql`${error}${reported}`)
    const change = { mail: row.id, kind: row.kind, state, reason }
    if (isToSeveral && undeliveredStates.includes(state)) await logReceiver(db, log, change, to)
    if (changed) logChange(log, change, isToSeveral)
  }
  await db.mailEvent.deleteMany({ where: { id: { in: events.map(({ id }) => id) } } })
}

function logChange(log: Log, change: Change, isToSeveral: boolean) {
  if (change.state === 'Sent') return log.info(change, 'a mail is delayed')
  if (change.state === 'Delivered') return log.info(change, 'a mail has arrived')
  if (change.state === 'Complained') return log.warn(change, 'a mail was marked as spam')
  if (kinds[change.kind].to !== 'staff') return log.warn(change, 'a mail did not arrive')
  // Of a notice to several the line of logReceiver is enough. Nothing repeats the list of a summary.
  if (!isToSeveral || change.kind === 'Summary')
    log.error(change, 'a mail to staff did not arrive: they may not know of an enquiry')
}

/** An address of several in STAFF_EMAILS is reported once a day, as `s…@shop.example`. */
async function logReceiver(db: Db, log: Log, change: Change, to: string[]) {
  const receiver = to.length === 1 ? to[0] : undefined
  const isFirstToday = await takeLease(db, `no mail arrives at ${receiver}`, crypto.randomUUID(), DAY_MS / 1000)
  const address = receiver?.replace(/^(.)[^@]*/, '$1…') ?? 'one'
  const message = 'no mail arrives at an address of STAFF_EMAILS; `staff mails` lists what reached nobody'
  if (isFirstToday) log.error({ ...change, address }, message)
}

/**
 * If the process died before it applied events that came before our record of the send, this applies them. It looks at the
 * newest mails of each kind, so that its cost does not grow with the events of other mails.
 */
export async function applyMissedEvents(db: Db, log: Log, staff: string[]): Promise<void> {
  const missed = await db.$queryRaw<{ resendId: string }[]>`
    SELECT event."ResendId" AS "resendId"
    FROM unnest(${storedKinds(mailKinds)}) AS kind CROSS JOIN LATERAL (
      SELECT "ResendId" FROM "Quvera_Mail" WHERE "Kind" = kind AND "TriedAt" IS NOT NULL
      ORDER BY "TriedAt" DESC LIMIT ${CHUNK}) mail
    CROSS JOIN LATERAL (
      SELECT "ResendId" FROM "Quvera_MailEvent" WHERE "ResendId" = mail."ResendId" LIMIT 1) event`
  for (const mail of missed) await applyEvents(db, log, mail, staff)
}

/** Deletes a chunk of the events older than two days: they belong to no mail of ours. */
export async function deleteOldEvents(db: Db): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "Quvera_MailEvent" WHERE "Id" IN (
      SELECT "Id" FROM "Quvera_MailEvent" WHERE "ReceivedAt" < now() - interval '2 days' LIMIT ${CHUNK})`
}

/** For a site without webhooks: asks Resend about one mail at a time. No mail waits for that. */
export function createDeliveryCheck(
  db: Db,
  log: Log,
  staff: string[],
  { mailer, pace }: { mailer: Mailer; pace: Pace },
) {
  /** False while one is asked for, and for good once Resend has refused it to the key. */
  let mayCheck = true

  /** @returns whether another one may be checked */
  async function check(): Promise<boolean> {
    const resendId = await claimCheck(db)
    if (!resendId) return true
    pace.started()
    const { event, forbidden, headers } = await mailer.readNewestEvent(resendId, AbortSignal.timeout(CHECK_TIMEOUT_MS))
    pace.ended(headers)
    if (event) await recordEvent(db, log, event, staff)
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

/** The mail that is to be checked now, if there is one. It is checked again when its age has doubled. */
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
