import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'

/* The states of a mail; `transition` in queue.ts refuses any other change. */

interface State {
  means: string
  next: MailStatus[]
  /** A notice in this state has told nobody of its enquiry: it waits for a summary. */
  isUntold?: true
}

const afterSending: MailStatus[] = ['Sent', 'Delivered', 'Bounced', 'Failed', 'Complained']

/**
 * The most urgent first. A delivery event may come before the result of the send, or instead of it: from Pending and
 * Unknown it leads to any state after sending. A Bounced mail becomes Delivered when it has reached another receiver.
 */
export const states: Record<MailStatus, State> = {
  Bounced: {
    means: 'was rejected by the mail server of a receiver',
    next: ['Delivered', 'Complained', 'Withheld'],
    isUntold: true,
  },
  Failed: {
    means: 'was refused for good',
    next: ['Pending', 'Withheld', 'Delivered', 'Complained'],
    isUntold: true,
  },
  Complained: { means: 'was marked as spam', next: ['Delivered', 'Withheld'] },
  Unknown: {
    means: 'may have been sent or not',
    next: ['Pending', 'Withheld', ...afterSending],
    isUntold: true,
  },
  Pending: { means: 'is still to be sent', next: ['Pending', 'Unknown', 'Withheld', ...afterSending] },
  Withheld: { means: 'is not to be sent', next: ['Pending'], isUntold: true },
  Sent: { means: 'was accepted by Resend, or by NOTIFY_URL', next: afterSending },
  Delivered: { means: 'has arrived', next: ['Bounced', 'Failed', 'Complained'] },
}

export const undeliveredStates: MailStatus[] = ['Bounced', 'Failed', 'Complained']

export function statesBefore(to: MailStatus): MailStatus[] {
  return keysOf(states).filter((state) => states[state].next.includes(to))
}

/** In the order in which they are sent. `key` begins the idempotency key. A post does not count in the budget. */
export const kinds: Record<MailKind, { to: 'staff' | 'visitor' | 'program'; key: string; short: string }> = {
  Summary: { to: 'staff', key: 'summary', short: 'Summary' },
  Notice: { to: 'staff', key: 'staff', short: 'Notice' },
  Confirmation: { to: 'visitor', key: 'confirm', short: 'Confirm' },
  Acknowledgement: { to: 'visitor', key: 'ack', short: 'Ack' },
  Post: { to: 'program', key: 'post', short: 'Post' },
}

/** The database calls a notice `Staff`. */
export function storedKind(kind: MailKind): Prisma.Sql {
  return Prisma.sql`${kind === 'Notice' ? 'Staff' : kind}::"Quvera_MailKind"`
}

export function storedKinds(ofKinds: MailKind[]): Prisma.Sql {
  return Prisma.sql`ARRAY[${Prisma.join(ofKinds.map(storedKind))}]`
}

export function keysOf<Name extends string>(table: Partial<Record<Name, unknown>>) {
  return Object.keys(table) as Name[]
}

export type SentKind = Exclude<MailKind, 'Post'>
export const mailKinds = keysOf(kinds).filter((kind): kind is SentKind => kind !== 'Post')

export type MailFilter = Prisma.MailWhereInput

/** The reason of a notice whose enquiry a summary names; the number of the summary follows. */
export const IN_SUMMARY = 'Told in summary'
/** The beginning of the reason of a notice that only a summary tells of. */
export const NOT_ALONE = 'Not mailed alone'

const untoldStates = keysOf(states).filter((state) => states[state].isUntold)
/** Of Quvera_Mail: notices that told nobody, of enquiries that no summary has named yet. */
export const UNTOLD = Prisma.raw(
  `"Kind" = 'Staff' AND "DueAt" IS NOT NULL AND "Status" IN (${untoldStates.map((state) => `'${state}'`).join(', ')})`,
)

/** Includes Unknown: such a mail may not have arrived. */
const ofAnyKind = { status: { in: [...undeliveredStates, 'Unknown'] } } satisfies MailFilter
const ofNew = { enquiry: { status: 'New' } } satisfies MailFilter
export const undelivered = {
  ofAnyKind,
  summaries: { ...ofAnyKind, kind: 'Summary' },
  acknowledgements: { kind: 'Acknowledgement', status: { in: undeliveredStates }, ...ofNew },
  /** Those that told nobody, without those that only wait for their summary. */
  notices: {
    kind: 'Notice',
    status: { in: untoldStates },
    dueAt: { not: null },
    NOT: { status: 'Withheld', lastError: { startsWith: NOT_ALONE } },
    ...ofNew,
  },
} satisfies Record<string, MailFilter>
