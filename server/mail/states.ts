import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'

/* The kinds and the states of a mail. A post is stored and sent like a mail, but does not count as one. */

/** Without posts. */
export type CountedKind = Exclude<MailKind, 'Post'>
/** In the order in which they are sent. */
export const mailKinds: CountedKind[] = ['Summary', 'Notice', 'Confirmation', 'Acknowledgement']

/** `key` begins the idempotency key. */
export const kinds: Record<MailKind, { to: 'staff' | 'visitor' | 'program'; key: string; short: string }> = {
  Summary: { to: 'staff', key: 'summary', short: 'Summary' },
  Notice: { to: 'staff', key: 'staff', short: 'Notice' },
  Confirmation: { to: 'visitor', key: 'confirm', short: 'Confirm' },
  Acknowledgement: { to: 'visitor', key: 'ack', short: 'Ack' },
  Post: { to: 'program', key: 'post', short: 'Post' },
}

const afterSending: MailStatus[] = ['Sent', 'Delivered', 'Bounced', 'Failed', 'Complained']

/**
 * In the order in which `staff mails` explains them. `next` has the states that may follow; `transition` in queue.ts refuses
 * any other. A delivery event may come before the result of the send, or instead of it: so any state after sending may follow
 * Pending and Unknown. A mail to several of staff that has bounced at one of them becomes Delivered when it has reached
 * another.
 */
export const states: Record<MailStatus, { means: string; next: MailStatus[] }> = {
  Bounced: { means: 'was rejected by the mail server of a receiver', next: ['Delivered', 'Complained', 'Withheld'] },
  Failed: { means: 'was refused for good', next: ['Pending', 'Withheld', 'Delivered', 'Complained'] },
  Complained: { means: 'was marked as spam', next: ['Delivered', 'Withheld'] },
  Unknown: { means: 'may have been sent or not', next: ['Pending', 'Withheld', ...afterSending] },
  Pending: { means: 'is still to be sent', next: ['Pending', 'Unknown', 'Withheld', ...afterSending] },
  Withheld: { means: 'is not to be sent', next: ['Pending'] },
  Sent: { means: 'was accepted by Resend, or by NOTIFY_URL', next: ['Delivered', 'Bounced', 'Failed', 'Complained'] },
  Delivered: { means: 'has arrived', next: ['Bounced', 'Failed', 'Complained'] },
}

export function statesBefore(to: MailStatus): MailStatus[] {
  return (Object.keys(states) as MailStatus[]).filter((state) => states[state].next.includes(to))
}

/** Resend, the receiver's mail server or the receiver rejected the mail. Without Unknown. */
export const rejectedStates: MailStatus[] = ['Bounced', 'Failed', 'Complained']
/** The notice reached nobody, or nobody knows. A summary has to tell of its enquiry. */
export const untoldStates: MailStatus[] = ['Bounced', 'Failed', 'Unknown', 'Withheld']
/** Notices that wait for a summary. */
export const waitsForSummary = { kind: 'Notice' as const, status: { in: untoldStates }, dueAt: { not: null } }
/** The same in SQL: the condition of `Quvera_Mail_untold_idx`, word for word. */
export const WAITS_FOR_SUMMARY = Prisma.raw(
  `"Kind" = 'Notice' AND "DueAt" IS NOT NULL AND "Status" IN (${untoldStates.map((state) => `'${state}'`).join(', ')})`,
)

/** The reason that server/database/after-pg-restore.sql gives: `staff mails retry --restored` sends these mails. */
export const WITHHELD_BY_RESTORE = 'restored from a backup: may have been sent since'
/*
 * How a notice comes into a summary:
 *   suspected spam, no share left, or too old → Withheld, with a DueAt  → summary → IN_SUMMARY, without DueAt
 *   bounced, failed, Unknown, or restored     → its reason, with a DueAt → summary → its reason, without DueAt
 */
/** The reason of a notice that is left to a summary begins so. Queries find such notices by it: do not reword it. */
export const NOT_ALONE = 'Not mailed alone'
/** The reason of such a notice once a summary has told of its enquiry. The number of the summary follows. */
export const IN_SUMMARY = 'Told in summary'
