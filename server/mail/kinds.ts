import { DAY_MS } from '../../shared/indian-time.ts'
import type { Db } from '../database/database.ts'
import type { Enquiry, EnquiryWithSecret } from '../database/enquiry.ts'
import type { Mail, Subscriber } from '../database/generated/client.ts'
import type { MailKind } from '../database/generated/enums.ts'
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
 * What there is to know of a kind of mail, side by side. Budget, claim, withholding and what staff read go by this table.
 *
 * A new kind to the visitor needs:
 *   a value of the enum in prisma/schema.prisma, with its migration; an entry and a `case` here; its words in templates.ts;
 *   and whoever calls `queueToVisitor` of queue.ts: a change at the desk, say. `holdsWhile` lets it be taken back.
 * One to staff has an INSERT of its own in of-enquiry.ts; in told.ts, operations/problems.ts and metrics/backlog.ts, if it is a
 * doorbell. Also: kindsOfOrder in of-enquiry.ts, if it is written with the order; FAILED in
 * operations/mails-command.ts, if staff need not read that it failed.
 */

interface Kind {
  /** In words that staff read. */
  one: string
  to: 'staff' | 'visitor' | 'subscriber' | 'NOTIFY_URL'
  /** It is sent while the mails that were tried, and so may have been sent, in 24 hours are below this percentage of MAIL_DAILY_BUDGET. */
  percent: number
  /** An untried one is withheld once it is older than MAIL_MAX_AGE_DAYS, or than this, if that is less. */
  maxAgeDays?: number
  /** People may have it sent once more. */
  maySendAgain?: true
  /** Its text cannot be written without PUBLIC_URL. */
  needsPublicUrl?: true
  /** Of one to the visitor: whether what it tells is true. Looked at before each try. */
  holdsWhile?(enquiry: Enquiry): boolean
}

/**
 * In the order in which the queue sends them, the most urgent first. `percent` says who stops first: the mail about an erasure never
 * does, but has a day. A post has a sender of its own; a link goes out at once.
 */
export const kinds: Record<MailKind, Kind> = {
  // Summaries and mails about changes are not sent again: the next summary says more.
  Summary: { one: 'the summary', to: 'staff', percent: 100 },
  Notice: { one: 'the notice', to: 'staff', percent: 75, maySendAgain: true },
  Change: { one: 'the mail about a change', to: 'staff', percent: 40, maxAgeDays: 1 },
  Confirmation: { one: 'the confirmation', to: 'subscriber', percent: 60, maySendAgain: true, needsPublicUrl: true },
  ErasureAsked: {
    one: 'the mail about the erasure',
    to: 'visitor',
    percent: 100,
    maxAgeDays: 1, // by then it is erased
    holdsWhile: ({ eraseAt }) => eraseAt !== null,
  },
  Acknowledgement: { one: 'the acknowledgement', to: 'visitor', percent: 60, maxAgeDays: 1, maySendAgain: true },
  Post: { one: 'the webhook post', to: 'NOTIFY_URL', percent: Number.POSITIVE_INFINITY, maySendAgain: true },
  SignIn: { one: 'the link to the desk', to: 'staff', percent: 100 },
}

export const allKinds = Object.keys(kinds) as MailKind[]

/** Those that the queue sends through Resend, in the order in which they are sent. */
export const queuedKinds: MailKind[] = allKinds.filter((kind) => kind !== 'Post' && kind !== 'SignIn')

/** Those of them to staff, and to visitors. */
export const kindsToStaff = queuedKinds.filter((kind) => kinds[kind].to === 'staff')
export const kindsToVisitor = queuedKinds.filter((kind) => kinds[kind].to === 'visitor')

/** With what it is about. `to` and `text` are of mails to staff only. */
export type StoredMail = Mail & { enquiry: EnquiryWithSecret | undefined; subscriber: Subscriber | null }

/**
 * Made of stored rows and settings only: a repeat has the same bytes while they stay. Without `publicUrl` no mail links to the site.
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
    case 'Change':
      if (to && enquiry) return { tag, to, ...createChange(enquiry, publicUrl) }
      break
    case 'Confirmation':
      if (subscriber) return { tag, to: subscriber.email, ...createConfirmation(subscriber, publicUrl) }
      break
    case 'ErasureAsked':
      if (enquiry) return { tag, to: enquiry.email, ...createErasureAsked(enquiry, publicUrl) }
      break
    case 'Acknowledgement':
      if (enquiry) return { tag, to: enquiry.email, ...createAcknowledgement(enquiry, publicUrl) }
  }
  throw new Error(`A mail of the kind ${kind} cannot be written`)
}

/** Links to the desk in 24 hours, for all strangers together: nobody can use up the mails of a day by asking. */
export const STRANGERS_A_DAY = 20
const SUMMARY_INTERVAL_MIN_MS = 600_000

/** @param budget 0: no limit @param count of mails that were tried in 24 hours */
export function hasBudget(kind: MailKind, budget: number, count: number): boolean {
  return budget === 0 || count < (kinds[kind].percent * budget) / 100
}

/** Notices stop at 75 %. The rest pays for summaries, evenly over the day: with 100 mails and one receiver about one an hour. */
export function summaryIntervalMs(budget: number, receivers: number): number {
  if (budget === 0) return SUMMARY_INTERVAL_MIN_MS
  const leftByNotices = ((100 - kinds.Notice.percent) * budget) / 100
  return Math.max(SUMMARY_INTERVAL_MIN_MS, (DAY_MS * receivers) / leftByNotices)
}

/** The mails that were tried in the last 24 hours: each has one receiver, and Resend counts receivers. */
export async function readCount(db: Pick<Db, '$queryRaw'>): Promise<number> {
  const [{ count }] = await db.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS "count" FROM "Quvera_Mail"
    WHERE "FirstTriedAt" BETWEEN now() - interval '24 hours' AND now() AND "Kind" <> 'Post'`
  return count
}
