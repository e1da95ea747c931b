import type { Db } from '../database/database.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'

/*
 * What a mail can be, and what it can become. Every change of a state is one of this table, also
 * where a statement makes it for many: by their age, of a bundle, after a restore.
 *
 *   an order is stored ─▶ Pending ── Resend takes it ──▶ Sent ── Resend tells ──▶ Delivered, Bounced, Complained, Failed
 *                          │  ▲ └─── refused for good ──▶ Failed ────────────────────┐
 *                          │  │ └─── no clear answer, too long ago ──▶ Unknown ──────┤ `staff mails retry`
 *                          │  └──────────────────────────────────────────────────────┘
 *                          └──────── a limit, its age, staff ──▶ Withheld
 */
interface State {
  /** For staff, after the state's name. */
  means: string
  next: MailStatus[]
  /** It has not arrived where it should, and will not by itself. */
  undelivered?: true
  /** It is still to be sent, by itself or after a person has decided. */
  owed?: true
}

/** From what matters most to what matters least. */
export const states: Record<MailStatus, State> = {
  Bounced: { means: 'was turned away by the receiver', next: ['Complained'], undelivered: true },
  Failed: {
    means: 'was refused for good',
    next: ['Pending', 'Withheld', 'Complained'],
    undelivered: true,
    owed: true,
  },
  Complained: { means: 'was marked as spam', next: [], undelivered: true },
  Unknown: { means: 'may have been sent or not', next: ['Pending', 'Withheld'], owed: true },
  Pending: {
    means: 'waits for its next try',
    next: ['Pending', 'Sent', 'Failed', 'Unknown', 'Withheld'],
    owed: true,
  },
  Withheld: { means: 'is not to be sent', next: ['Pending'] },
  Sent: {
    means: 'was taken by Resend, or by NOTIFY_URL',
    next: ['Sent', 'Delivered', 'Bounced', 'Failed', 'Complained'],
  },
  Delivered: { means: 'has arrived', next: ['Bounced', 'Failed', 'Complained'] },
}

type Receiver = 'staff' | 'visitor' | 'program'

interface Kind {
  to: Receiver
  /** How its idempotency key begins. */
  key: string
  /** In columns. */
  short: string
  /** Unless it arrives nobody is told of an enquiry. */
  alarm?: true
}

/** What a mail can be. */
export const kinds: Record<MailKind, Kind> = {
  /** The notice of one enquiry; or a bundle, of all those whose notices go along in it. */
  Staff: { to: 'staff', key: 'staff', short: 'Notice', alarm: true },
  /** About enquiries that wait and mails that did not arrive. */
  Digest: { to: 'staff', key: 'digest', short: 'Digest' },
  Acknowledgement: { to: 'visitor', key: 'ack', short: 'Ack' },
  /** Asks a subscriber to confirm the address. */
  Confirmation: { to: 'visitor', key: 'confirm', short: 'Confirm' },
  /** No mail, and none of a day's: it goes to NOTIFY_URL, and is owed as mails are. */
  Post: { to: 'program', key: 'post', short: 'Post' },
}

const names = <T extends string>(table: Record<T, unknown>) => Object.keys(table) as T[]

export function kindsTo(receiver: Receiver): MailKind[] {
  return names(kinds).filter((kind) => kinds[kind].to === receiver)
}

export const mailKinds = [...kindsTo('staff'), ...kindsTo('visitor')]

export function statesThat(are: 'undelivered' | 'owed'): MailStatus[] {
  return names(states).filter((state) => states[state][are])
}

export function statesBefore(to: MailStatus): MailStatus[] {
  return names(states).filter((state) => states[state].next.includes(to))
}

export type MailFilter = NonNullable<NonNullable<Parameters<Db['mail']['findMany']>[0]>['where']>
export type Change = Parameters<Db['mail']['updateMany']>[0]['data']

/**
 * Gives mails another state, those of them that may have it.
 * @returns how many
 */
export async function move(
  db: Pick<Db, 'mail'>,
  mails: MailFilter,
  to: MailStatus,
  data: Change = {},
): Promise<number> {
  const where = { AND: [mails, { status: { in: statesBefore(to) } }] }
  const { count } = await db.mail.updateMany({ where, data: { ...data, status: to } })
  return count
}

const undelivered = { status: { in: statesThat('undelivered') } } satisfies MailFilter

/** How the reason begins for which a mail is withheld by its age. */
export const TOO_OLD = 'Not sent: the enquiry is more than'

/** Notices that did not arrive, or never went, of enquiries that nobody has dealt with either: nobody has been told. */
export const untold = {
  kind: 'Staff',
  OR: [undelivered, { status: 'Withheld', lastError: { startsWith: TOO_OLD } }],
  enquiry: { status: 'New' },
} satisfies MailFilter

/** Acknowledgements that did not arrive, of enquiries that nobody has dealt with: the visitor has to be rung. */
export const unacknowledged = {
  ...undelivered,
  kind: 'Acknowledgement',
  enquiry: { status: 'New' },
} satisfies MailFilter

/** What a restored database holds back, because it may have been sent since the backup. */
export const heldBack = {
  status: 'Withheld',
  lastError: 'restored from a backup: may have been sent since',
} as const satisfies MailFilter

/** Mails that are sent by themselves. The others go along in a bundle: a trigger of the database tells them its state. */
export const own = { bundledInto: null } as const satisfies MailFilter

export const bundle = { kind: 'Staff', enquiryId: null } as const satisfies MailFilter

/** What there is to know of an enquiry's mails in a word or two: the notice first, then whichever is worse. */
export function mailState(mails: { kind: MailKind; status: MailStatus }[]): string {
  const order = names(states)
  const rank = ({ kind, status }: (typeof mails)[number]) =>
    kind === 'Staff' && states[status].undelivered ? -1 : order.indexOf(status)
  const [worst] = mails.filter(({ kind }) => kind !== 'Post').toSorted((a, b) => rank(a) - rank(b))
  if (!worst) return '-'
  const isFine = worst.status === 'Pending' || order.indexOf(worst.status) >= order.indexOf('Sent')
  return isFine ? worst.status : `${kinds[worst.kind].short} ${worst.status}`
}
