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
interface State {
  /** For staff, after the state's name. */
  means: string
  next: MailStatus[]
}

/** From what matters most to what matters least. Bounced may become Delivered: of several receivers one has got it. */
export const states: Record<MailStatus, State> = {
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
/** It is still to be sent, by itself or after a person has decided. */
export const unsentStates: MailStatus[] = ['Failed', 'Unknown', 'Pending']

export function statesBefore(to: MailStatus): MailStatus[] {
  return names(states).filter((state) => states[state].next.includes(to))
}

interface Kind {
  to: 'staff' | 'visitor' | 'program'
  /** How its idempotency key begins. */
  key: string
  /** In columns. */
  short: string
}

/** In the order in which they are sent. */
export const kinds: Record<MailKind, Kind> = {
  Summary: { to: 'staff', key: 'summary', short: 'Summary' },
  /** The notice of one enquiry. */
  Staff: { to: 'staff', key: 'staff', short: 'Notice' },
  /** Asks a subscriber to confirm the address. */
  Confirmation: { to: 'visitor', key: 'confirm', short: 'Confirm' },
  Acknowledgement: { to: 'visitor', key: 'ack', short: 'Ack' },
  /** No mail, and outside the budget: what NOTIFY_URL is told. Queued and tried as mails are. */
  Post: { to: 'program', key: 'post', short: 'Post' },
}

function names<Name extends string>(table: Record<Name, unknown>) {
  return Object.keys(table) as Name[]
}

export type SentKind = Exclude<MailKind, 'Post'>
export const mailKinds = names(kinds).filter((kind): kind is SentKind => kind !== 'Post')

export type MailFilter = NonNullable<NonNullable<Parameters<Db['mail']['findMany']>[0]>['where']>

/** How the reason of a notice begins that is withheld for its age. */
export const TOO_OLD = 'Not sent: the enquiry is more than'
/** The reason of a notice that a summary has told; its number follows. */
export const IN_SUMMARY = 'Told in summary'

export const undelivered = { status: { in: undeliveredStates } } satisfies MailFilter

/**
 * Notices that did not arrive, or were too old to be sent, of enquiries that nobody has dealt with: nobody has been told.
 * Those told in a summary have no `dueAt`, so that they are not read.
 */
export const untoldNotices = {
  kind: 'Staff',
  OR: [undelivered, { status: 'Withheld', dueAt: { not: null }, lastError: { startsWith: TOO_OLD } }],
  enquiry: { status: 'New' },
} satisfies MailFilter

export const undeliveredSummaries = { ...undelivered, kind: 'Summary' } satisfies MailFilter

/** Acknowledgements that did not arrive, of enquiries that nobody has dealt with: the visitor has to be rung. */
export const undeliveredAcknowledgements = {
  ...undelivered,
  kind: 'Acknowledgement',
  enquiry: { status: 'New' },
} satisfies MailFilter

/** What a restored database holds back, because it may have been sent since the backup. */
export const heldBack = {
  status: 'Withheld',
  lastError: 'restored from a backup: may have been sent since',
} as const satisfies MailFilter

/** What became of an enquiry's mails, in a word or two: the notice first, then whichever is worse. */
export function mailState(mails: { kind: MailKind; status: MailStatus; lastError: string | null }[]): string {
  const order = names(states)
  const isTold = ({ lastError }: (typeof mails)[number]) => lastError?.startsWith(IN_SUMMARY)
  const rank = (mail: (typeof mails)[number]) => {
    if (isTold(mail)) return order.indexOf('Sent')
    return mail.kind === 'Staff' && undeliveredStates.includes(mail.status) ? -1 : order.indexOf(mail.status)
  }
  const [worst] = mails.filter(({ kind }) => kind !== 'Post').toSorted((a, b) => rank(a) - rank(b))
  if (!worst) return '-'
  if (isTold(worst)) return 'In summary'
  const isFine = worst.status === 'Pending' || order.indexOf(worst.status) >= order.indexOf('Sent')
  return isFine ? worst.status : `${kinds[worst.kind].short} ${worst.status}`
}
