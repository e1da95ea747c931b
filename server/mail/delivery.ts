import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { propertiesOf } from '../errors.ts'
import { staffCommand } from '../format.ts'
import { transition } from './queue.ts'
import { TAG, TAG_VALUE } from './resend.ts'
import { clean, replyCode } from './resend-answers.ts'
import { kinds, rejectedStates, statesBefore } from './states.ts'

/* Whether a mail that Resend has accepted arrived. Resend's webhook reports it, with the tag of the mail. */

const STATES = new Map<unknown, MailStatus>([
  ['email.sent', 'Sent'],
  ['email.delivery_delayed', 'Sent'],
  ['email.delivered', 'Delivered'],
  ['email.bounced', 'Bounced'],
  ['email.suppressed', 'Bounced'],
  ['email.failed', 'Failed'],
  ['email.complained', 'Complained'],
])

export interface DeliveryEvent {
  tag: string
  /** The mail goes to each of its receivers singly, and this event is about one of them. */
  isPart?: boolean
  state: MailStatus
  /** Such as `bounced: Permanent General 550`. */
  reason: string
  resendId: string
}

/** The event of a webhook's body. Undefined for one of another mail of the account, or of no mail. */
export function readEvent(body: unknown): DeliveryEvent | undefined {
  const { type, data } = propertiesOf(body)
  const { email_id: resendId, tags, bounce, failed } = propertiesOf(data)
  // Resend documents the tags as an object, and on another page as a list of names and values.
  const listed = Array.isArray(tags) ? tags.map(propertiesOf).find(({ name }) => name === TAG)?.value : undefined
  const [, tag, part] = TAG_VALUE.exec(String(listed ?? propertiesOf(tags)[TAG])) ?? []
  const state = STATES.get(type)
  if (!tag || !state) return undefined
  const { type: bounceType, subType, message } = propertiesOf(bounce)
  const details = [bounceType, subType, replyCode(message), propertiesOf(failed).reason].map(clean).filter(Boolean)
  const reason = [String(type).replace('email.', ''), details.join(' ')].filter(Boolean).join(': ')
  return { tag, isPart: part !== undefined, state, reason, resendId: clean(resendId) }
}

/**
 * Applies an event to its mail, whether or not the result of the send is recorded yet. Events may be repeated and come in
 * any order; the decisive one counts:
 *   mail to one receiver: bad news, then `Delivered`, then `Sent`
 *   mail to several:      `Delivered` (it has reached one), then bad news, then `Sent`
 * @returns false if Resend has to repeat the event later: while a mail goes to several singly, it stays Pending whatever
 * becomes of one, because the others still get it
 */
export async function recordEvent(db: Db, log: Log, event: DeliveryEvent, staffEmails: string[]): Promise<boolean> {
  const { tag, isPart, state, reason, resendId } = event
  const isTagged = Prisma.sql`mail."Tag" = ${tag}::uuid AND mail."TriedAt" IS NOT NULL`
  const [mail] = await db.$queryRaw<{ id: bigint; kind: MailKind; status: MailStatus }[]>`
    SELECT "Id" AS "id", "Kind" AS "kind", "Status" AS "status" FROM "Quvera_Mail" mail WHERE ${isTagged}`
  if (!mail) return true
  if (isPart && mail.status === 'Pending') return false
  const isToSeveral = kinds[mail.kind].to === 'staff' && staffEmails.length > 1
  const isBad = rejectedStates.includes(state)
  const isDecisive = isToSeveral ? state === 'Delivered' : isBad
  // Other events only replace a state that does not yet say whether the mail arrived.
  const mayReplace: MailStatus[] = isDecisive ? statesBefore(state) : ['Pending', 'Unknown', 'Sent']
  const changed = await transition(
    db,
    state,
    Prisma.sql`${isTagged} AND mail."Status" = ANY(${mayReplace}::text[]::"Quvera_MailStatus"[])`,
    Prisma.sql`"LastError" = ${isBad ? reason : null}, "ResendId" = coalesce("ResendId", nullif(${resendId}, ''))`,
  )
  // Each receiver has an event of its own: one that changes nothing is logged if it is bad.
  if (changed > 0 || (isToSeveral && isBad)) logEvent(log, { mail: mail.id, kind: mail.kind, state, reason })
  return true
}

type Log = Pick<Logger, 'error' | 'warn' | 'info'>

function logEvent(log: Log, change: { mail: bigint; kind: MailKind; state: MailStatus; reason: string }) {
  if (change.state === 'Sent') return log.info(change, 'a mail is on its way')
  if (change.state === 'Delivered') return log.info(change, 'a mail has arrived')
  if (change.state === 'Complained') return log.warn(change, 'a mail was marked as spam')
  if (kinds[change.kind].to !== 'staff') return log.warn(change, 'a mail did not arrive')
  log.error(
    change,
    `a mail to staff did not arrive at one of its addresses; if it reached nobody, this lists it: ${staffCommand('mails')}`,
  )
}
