import type { Db } from '../database/database.ts'

type MailFilter = NonNullable<NonNullable<Parameters<Db['mail']['findMany']>[0]>['where']>
type Mail = Pick<NonNullable<Awaited<ReturnType<Db['mail']['findFirst']>>>, 'kind' | 'status'>

/** States of a mail that has not arrived where it should, and will not by itself. */
export const UNDELIVERED = ['Failed', 'Bounced', 'Complained'] as const

export function isUndelivered(status: Mail['status']): boolean {
  return UNDELIVERED.some((each) => each === status)
}

/** Notices that did not arrive, of enquiries that nobody has dealt with either: nobody has been told. */
export const untold = {
  kind: 'Staff',
  status: { in: [...UNDELIVERED] },
  enquiry: { status: 'New' },
} as const satisfies MailFilter

/** Acknowledgements that did not arrive, of enquiries that nobody has dealt with: the visitor has to be rung. */
export const unacknowledged = { ...untold, kind: 'Acknowledgement' } as const satisfies MailFilter

/** What a restored database holds back, because it may have been sent since the backup. */
export const heldBack = {
  status: 'Withheld',
  lastError: 'restored from a backup: may have been sent since',
} as const satisfies MailFilter

/** From what matters most to what matters least. */
const ORDER: Mail['status'][] = [
  'Bounced',
  'Failed',
  'Complained',
  'Unknown',
  'Pending',
  'Withheld',
  'Sent',
  'Delivered',
]

/** What there is to know of an enquiry's mails in a word or two: the notice first, then whichever is worse. */
export function mailState(mails: Mail[]): string {
  const rank = ({ kind, status }: Mail) => (kind === 'Staff' && isUndelivered(status) ? -1 : ORDER.indexOf(status))
  const [worst] = mails.toSorted((a, b) => rank(a) - rank(b))
  if (!worst) return '-'
  const isFine = worst.status === 'Sent' || worst.status === 'Delivered' || worst.status === 'Pending'
  return isFine ? worst.status : `${worst.kind === 'Staff' ? 'Notice' : 'Ack'} ${worst.status}`
}
