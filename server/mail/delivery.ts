import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { propertiesOf } from '../errors.ts'
import { staffCommand } from '../staff-command.ts'
import { kindsToStaff } from './kinds.ts'
import { transition } from './queue.ts'
import { TAG_NAME } from './resend.ts'
import { clean, replyCode } from './resend-answers.ts'

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
/** Types of a bounce that is not permanent: the mail may have arrived, or arrive yet. */
const TRANSIENT: unknown[] = ['Transient', 'Undetermined']
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

export interface DeliveryEvent {
  tag: string
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
  const listed = Array.isArray(tags) ? tags.map(propertiesOf).find(({ name }) => name === TAG_NAME)?.value : undefined
  const tag = String(listed ?? propertiesOf(tags)[TAG_NAME] ?? '')
  const { type: bounceType, subType, message } = propertiesOf(bounce)
  const state = type === 'email.bounced' && TRANSIENT.includes(bounceType) ? 'Unknown' : STATES.get(type)
  if (!UUID.test(tag) || !state) return undefined
  const details = [bounceType, subType, replyCode(message), propertiesOf(failed).reason].map(clean).filter(Boolean)
  const reason = [String(type).replace('email.', ''), details.join(' ')].filter(Boolean).join(': ')
  return { tag, state, reason, resendId: clean(resendId) }
}

/** Applies an event to its mail, whether or not the answer is recorded yet. states.ts says which state may follow which. */
export async function recordEvent(db: Db, log: Log, { tag, state, reason, resendId }: DeliveryEvent): Promise<void> {
  // Sent may follow Unknown. But where that is of a transient bounce, an event of the sending that comes late says nothing new.
  const isNews = state === 'Sent' ? Prisma.sql`mail."SentAt" IS NULL` : Prisma.sql`TRUE`
  // The index by tag has tried mails only, and Resend knows no others.
  const isTagged = Prisma.sql`mail."Tag" = ${tag}::uuid AND mail."FirstTriedAt" IS NOT NULL AND ${isNews}`
  const lastError = ['Bounced', 'Failed', 'Complained', 'Unknown'].includes(state) ? reason : null
  const set = Prisma.sql`, "SentAt" = coalesce("SentAt", now()), "LastError" = ${lastError},
    "ResendId" = coalesce("ResendId", nullif(${resendId}, ''))`
  const [mail] = await transition(db, state, isTagged, { set })
  if (mail) logEvent(log, { mail: mail.id, kind: mail.kind, state, reason })
}

type Log = Pick<Logger, 'error' | 'warn' | 'info'>

function logEvent(log: Log, change: { mail: bigint; kind: MailKind; state: MailStatus; reason: string }) {
  if (change.state === 'Sent') return log.info(change, 'a mail is on its way')
  if (change.state === 'Delivered') return log.info(change, 'a mail has arrived')
  if (change.state === 'Unknown') return log.warn(change, 'a mail may not have arrived')
  if (change.state === 'Complained') return log.warn(change, 'a mail was marked as spam')
  if (!kindsToStaff.includes(change.kind)) return log.warn(change, 'a mail did not arrive')
  log.error(change, `a mail to staff did not arrive: see ${staffCommand('mails')}`)
}
