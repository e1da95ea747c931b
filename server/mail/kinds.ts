import type { Db } from '../database/database.ts'
import type { EnquiryWithSecret } from '../database/enquiry.ts'
import type { Subscriber } from '../database/generated/client.ts'
import type { MailKind } from '../database/generated/enums.ts'
import { DAY_MS } from '../format.ts'
import type { Message } from './resend.ts'
import {
  createAcknowledgement,
  createChange,
  createConfirmation,
  createErasureAsked,
  createNotice,
  createSummary,
} from './templates.ts'

/*
 * What there is to know of a kind of mail, side by side. Budget, claim, withholding and what staff read go by this table. A new
 * kind of an enquiry is a value of the enum with its migration, an entry and a `case` here, and its words in templates.ts. What
 * is monitored are doorbells only: operations/problems.ts and metrics/backlog.ts name them.
 */

interface Kind {
  /** In words that staff read. */
  one: string
  many: string
  to: 'staff' | 'visitor' | 'subscriber' | 'NOTIFY_URL'
  /** Its place among those that the queue sends through Resend, the most urgent first; 0: a post has a sender of its own, and a link goes out at once. */
  place: number
  /** It is sent while the mails that were tried in 24 hours are below this percentage of MAIL_DAILY_BUDGET. */
  share: number
  /** An untried one is withheld once it is older than this or than MAIL_MAX_AGE_DAYS, whichever is less. */
  maxAgeDays: number
  /** People may have it sent once more. */
  maySendAgain: boolean
  /** Its text cannot be written without PUBLIC_URL. */
  needsPublicUrl?: true
}

const NEVER = Number.MAX_SAFE_INTEGER

export const kinds: Record<MailKind, Kind> = {
  Summary: {
    ...{ one: 'the summary', many: 'Summaries', to: 'staff', place: 1, share: 100 },
    ...{ maxAgeDays: NEVER, maySendAgain: false }, // it is not sent again: the next one says more
  },
  Notice: {
    ...{ one: 'the notice', many: 'Notices', to: 'staff', place: 2, share: 75 },
    ...{ maxAgeDays: NEVER, maySendAgain: true },
  },
  Change: {
    ...{ one: 'the mail about a change', many: 'Mails about changes', to: 'staff', place: 3, share: 40 },
    ...{ maxAgeDays: 1, maySendAgain: false }, // a summary tells of what it did not
  },
  Confirmation: {
    ...{ one: 'the confirmation', many: 'Confirmations', to: 'subscriber', place: 4, share: 60 },
    ...{ maxAgeDays: NEVER, maySendAgain: true, needsPublicUrl: true },
  },
  ErasureAsked: {
    ...{ one: 'the mail about the erasure', many: 'Mails about erasures', to: 'visitor', place: 5, share: 75 },
    ...{ maxAgeDays: 1, maySendAgain: false }, // by then it is erased
  },
  Acknowledgement: {
    ...{ one: 'the acknowledgement', many: 'Acknowledgements', to: 'visitor', place: 6, share: 60 },
    ...{ maxAgeDays: 1, maySendAgain: true },
  },
  Post: {
    ...{ one: 'the webhook post', many: 'Webhook posts', to: 'NOTIFY_URL', place: 0, share: NEVER },
    ...{ maxAgeDays: NEVER, maySendAgain: true },
  },
  SignIn: {
    ...{ one: 'the link to the desk', many: 'Links to the desk', to: 'staff', place: 0, share: 100 },
    ...{ maxAgeDays: NEVER, maySendAgain: false },
  },
}

export const allKinds = Object.keys(kinds) as MailKind[]

/** Those that the queue sends through Resend, in the order in which they are sent. */
export const queuedKinds = allKinds
  .filter((kind) => kinds[kind].place > 0)
  .toSorted((a, b) => kinds[a].place - kinds[b].place)

/** The mails to staff that the queue sends. If one does not arrive, somebody has to act. */
export const doorbells = queuedKinds.filter((kind) => kinds[kind].to === 'staff')

export interface StoredMail {
  id: bigint
  kind: MailKind
  tag: string
  /** Of staff. */
  to: string | null
  mailbox: string | null
  enquiry: EnquiryWithSecret | undefined
  subscriber: Subscriber | undefined
  /** Of a summary. */
  text: string | null
}

/**
 * Made of stored rows and settings only, so that a repeat has the same bytes. Without `publicUrl` no mail links to the site.
 * @throws Error for a kind that the queue does not send, or one whose subject was erased
 */
export function writeMessage({ kind, tag, to, text, enquiry, subscriber }: StoredMail, publicUrl = ''): Message {
  switch (kind) {
    case 'Summary':
      if (to && text) return { tag, to, ...createSummary(text, publicUrl) }
      break
    case 'Notice':
      if (to && enquiry) return { tag, to, ...createNotice(enquiry, publicUrl) }
      break
    case 'Confirmation':
      if (subscriber) return { tag, to: subscriber.email, ...createConfirmation(subscriber, publicUrl) }
      break
    case 'Change':
      if (to && enquiry) return { tag, to, ...createChange(enquiry, publicUrl) }
      break
    case 'Acknowledgement':
      if (enquiry) return { tag, to: enquiry.email, ...createAcknowledgement(enquiry, publicUrl) }
      break
    case 'ErasureAsked':
      if (enquiry) return { tag, to: enquiry.email, ...createErasureAsked(enquiry, publicUrl) }
  }
  throw new Error(`A mail of the kind ${kind} cannot be written: what it is about was erased`)
}

/*
 * MAIL_DAILY_BUDGET limits one count: the mails that were tried in the last 24 hours. A mail has one receiver, so this counts
 * receivers, as Resend does. 0: no limit.
 */

/** Links to the desk in 24 hours, for all strangers together: nobody can use up the mails of a day by asking. */
export const STRANGERS_A_DAY = 20
const SUMMARY_INTERVAL_MIN_MS = 600_000

export function isOpen(kind: MailKind, budget: number, count: number): boolean {
  return budget === 0 || count < (kinds[kind].share * budget) / 100
}

/** Notices stop at 75 %. The rest pays for summaries, evenly over the day: with 100 mails and one receiver about one an hour. */
export function summaryIntervalMs(budget: number, receivers: number): number {
  if (budget === 0) return SUMMARY_INTERVAL_MIN_MS
  const leftByNotices = ((100 - kinds.Notice.share) * budget) / 100
  return Math.max(SUMMARY_INTERVAL_MIN_MS, (DAY_MS * receivers) / leftByNotices)
}

export async function readCount(db: Pick<Db, '$queryRaw'>): Promise<number> {
  const [{ count }] = await db.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS "count" FROM "Quvera_Mail"
    WHERE "FirstTriedAt" BETWEEN now() - interval '24 hours' AND now() AND "Kind" <> 'Post'`
  return count
}
