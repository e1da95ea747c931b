import type { Db } from '../database/database.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'

/*
 * What a mail can be, and what it can become. Every change of a state is made by `transition` in queue.ts, which refuses
 * what this table does not allow.
 *
 *   an order is stored ─▶ Pending ── Resend takes it ──▶ Sent ── Resend tells ──▶ Delivered, Bounced, Complained, Failed
 *                          │  ▲ └─── refused for good ──▶ Failed ────────────────────┐
 *                          │  │ └─── no clear answer, too long ago ──▶ Unknown ──────┤ `staff mails retry`
 *                          │  └──────────────────────────────────────────────────────┘
 *                          └──────── a limit, its age, told in a summary, staff ──▶ Withheld
 */
/** From what matters most to what matters least. Bounced may become Delivered: of several receivers one has got it. */
export const states: Record<MailStatus, { means: string; next: MailStatus[] }> = {
  Bounced: { means: 'was turned away by the receiver', next: ['Delivered', 'Complained', 'Withheld'] },
  Failed: { means: 'was refused for good', next: ['Pending', 'Withheld', 'Delivered', 'Complained'] },
  Complained: { means: 'was marked as spam', next: ['Delivered', 'Withheld'] },
  Unknown: { means: 'may have been sent or not', next: ['Pending', 'Withheld'] },
  Pending: { means: 'is still to be sent', next: ['Pending', 'Sent', 'Failed', 'Unknown', 'Withheld'] },
  Withheld: { means: 'is not to be sent', next: ['Pending'] },
  Sent: {
    means: 'was taken by Resend, or by NOTIFY_URL',
    next: ['Sent', 'Delivered', 'Bounced', 'Failed', 'Complained'],
  },
  Delivered: { means: 'has arrived', next: ['Bounced', 'Failed', 'Complained'] },
}

/** It has not arrived, and will not by itself. */
export const undeliveredStates: MailStatus[] = ['Bounced', 'Failed', 'Complained']

export function statesBefore(to: MailStatus): MailStatus[] {
  return names(states).filter((state) => states[state].next.includes(to))
}

/** In the order in which they are sent; `key` begins the idempotency key. A post is no mail, and outside the budget. */
export const kinds: Record<MailKind, { to: 'staff' | 'visitor' | 'program'; key: string; short: string }> = {
  Summary: { to: 'staff', key: 'summary', short: 'Summary' },
  Staff: { to: 'staff', key: 'staff', short: 'Notice' },
  Confirmation: { to: 'visitor', key: 'confirm', short: 'Confirm' },
  Acknowledgement: { to: 'visitor', key: 'ack', short: 'Ack' },
  Post: { to: 'program', key: 'post', short: 'Post' },
}

export function names<Name extends string>(table: Partial<Record<Name, unknown>>) {
  return Object.keys(table) as Name[]
}

export type SentKind = Exclude<MailKind, 'Post'>
export const mailKinds = names(kinds).filter((kind): kind is SentKind => kind !== 'Post')

export type MailFilter = NonNullable<NonNullable<Parameters<Db['mail']['findMany']>[0]>['where']>

/** How the reason of a notice begins that is withheld for its age. */
export const TOO_OLD = 'Not sent: the enquiry is more than'
/** The reason of a notice that a summary has told; its number follows. */
export const IN_SUMMARY = 'Told in summary'

/** A mail to staff that may not have arrived counts as one that has not. */
export const undelivered = { status: { in: [...undeliveredStates, 'Unknown'] } } satisfies MailFilter

/**
 * The notices of New enquiries that reached nobody: they did not arrive, or were too old. One that a summary told has no
 * `dueAt`, so the index passes over it.
 */
export const undeliveredNotices = {
  kind: 'Staff',
  OR: [undelivered, { status: 'Withheld', dueAt: { not: null }, lastError: { startsWith: TOO_OLD } }],
  enquiry: { status: 'New' },
} satisfies MailFilter

export const undeliveredSummaries = { ...undelivered, kind: 'Summary' } satisfies MailFilter

/** Their visitors have to be rung. */
export const undeliveredAcknowledgements = {
  kind: 'Acknowledgement',
  status: { in: undeliveredStates },
  enquiry: { status: 'New' },
} satisfies MailFilter
