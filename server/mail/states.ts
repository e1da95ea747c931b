import type { MailStatus, WithheldBecause } from '../database/generated/enums.ts'

/* The states of a mail, and what an answer means for it, in words that staff read too. */

const badNews: MailStatus[] = ['Bounced', 'Failed', 'Complained']
const afterSending: MailStatus[] = ['Sent', 'Delivered', ...badNews]

/**
 * `next` has the states that may follow; `transition` in queue.ts refuses any other. A delivery event may come before the
 * answer, or instead of it: so any state after sending may follow Pending, Unknown and, as staff may mark spam while a request is
 * under way, Withheld. Events repeat and come in any order: bad news counts most, then `Delivered`, then `Sent`. A transient
 * bounce, of a full mailbox or an out-of-office answer, makes Sent Unknown, and leaves Delivered as it is.
 */
export const states: Record<MailStatus, { means: string; next: MailStatus[] }> = {
  Pending: { means: 'is still to be sent', next: ['Pending', 'Unknown', 'Withheld', ...afterSending] },
  Sent: { means: 'was sent', next: ['Unknown', 'Delivered', ...badNews] },
  Delivered: { means: 'has arrived', next: badNews },
  Bounced: { means: 'was rejected by the mail server of its receiver', next: [] },
  Complained: { means: 'has arrived, and was marked as spam', next: [] },
  Failed: { means: 'was refused for good', next: ['Pending'] },
  Unknown: { means: 'may have arrived or not', next: ['Pending', ...afterSending] },
  Withheld: { means: 'is not to be sent', next: ['Pending', ...afterSending] },
}

export const withheldReasons: Record<WithheldBecause, string> = {
  TooMany: 'there were too many mails: its enquiry is at the desk',
  TooOld: 'it had waited for too long',
  ThreeADay: 'its receiver has had three mails within 24 hours',
  Ended: 'the subscription is confirmed or has ended',
  Restored: 'it was pending in a backup, and may have been sent since',
  NotStaff: 'its receiver is no longer one of STAFF_EMAILS',
  ByStaff: 'the enquiry is marked as spam',
  NoUrl: 'NOTIFY_URL is not set any more',
  NotTheirs: 'its address was changed, or its owner says that the enquiry is not theirs',
  Replaced: 'a newer summary takes its place',
  Kept: 'what it tells was taken back',
}

/**
 * What became of a try.
 *               was it sent?   is it tried again?
 *   taken       yes            no
 *   refused     no             no: for what it says or where it goes
 *   withheld    no             no: on purpose
 *   not taken   no             yes, after `pauseMs`, in which no mail is tried: a limit, RESEND_API_KEY or MAIL_FROM
 *   unclear     perhaps        yes, under its key
 *   unknown     perhaps        no: no further try can tell
 */
export type Answer =
  | { is: 'taken'; resendId?: string }
  | { is: 'refused' | 'unclear' | 'unknown'; error: string }
  | { is: 'withheld'; because: WithheldBecause }
  | { is: 'not taken'; error: string; pauseMs: number }

export const stateAfter: Record<Answer['is'], MailStatus> = {
  taken: 'Sent',
  'not taken': 'Pending',
  refused: 'Failed',
  unknown: 'Unknown',
  withheld: 'Withheld',
  unclear: 'Pending',
}

export function statesBefore(to: MailStatus): MailStatus[] {
  return (Object.keys(states) as MailStatus[]).filter((state) => states[state].next.includes(to))
}
