import type { Db } from '../database/database.ts'
import type { MailKind } from '../database/generated/enums.ts'
import { DAY_MS } from '../format.ts'
import { type CountedKind, kinds, mailKinds } from './states.ts'

/* MAIL_DAILY_BUDGET limits one count: the mails of the last 24 hours. As at Resend, a mail counts once for each receiver. */

export interface Budget {
  /** Mails in 24 hours. 0 for no limit. */
  mails: number
  /** How many receive a mail to staff. */
  receivers: number
}

/** A mail of a kind may be sent if the count, with all its receivers, stays within this percentage of the budget. */
const SHARES: Record<CountedKind, number> = { Summary: 100, Notice: 75, Confirmation: 70, Acknowledgement: 60 }
const SUMMARY_INTERVAL_MIN_MS = 600_000

/** How much a mail of this kind adds to the count. */
export function receiversOf(kind: MailKind, { receivers }: Budget): number {
  return kinds[kind].to === 'staff' ? receivers : 1
}

/** How many mails of a kind may be sent now. Kinds other than Summary leave room for one summary. */
export function limitOf(kind: CountedKind, budget: Budget, count: number): number {
  const { mails, receivers } = budget
  if (mails === 0) return Number.POSITIVE_INFINITY
  const share = (SHARES[kind] * mails) / 100
  const leavingOneSummary = mails - receivers
  const countMax = kind === 'Summary' ? share : Math.min(share, leavingOneSummary)
  return Math.max(0, Math.floor((countMax - count) / receiversOf(kind, budget)))
}

/**
 * Notices stop at 75 %. The rest pays for summaries, evenly over the day: with 100 mails and one receiver about one an hour.
 * The interval is at most a day, so that the smallest budget pays for one a day.
 */
export function summaryIntervalMs({ mails, receivers }: Budget): number {
  if (mails === 0) return SUMMARY_INTERVAL_MIN_MS
  const leftByNotices = ((100 - SHARES.Notice) * mails) / 100
  return Math.min(DAY_MS, Math.max(SUMMARY_INTERVAL_MIN_MS, (DAY_MS * receivers) / leftByNotices))
}

/** A mail counts from its first try on. A try that is undone does not count. */
export async function readCount(db: Db, { mails, receivers }: Budget): Promise<number> {
  if (mails === 0) return 0
  const [{ count }] = await db.$queryRaw<[{ count: number }]>`
    SELECT coalesce(sum(CASE WHEN "Kind" IN ('Notice', 'Summary') THEN ${receivers}::int ELSE 1 END), 0)::int AS "count"
    FROM "Quvera_Mail"
    WHERE "Kind" = ANY(${mailKinds}::text[]::"Quvera_MailKind"[]) AND "TriedAt" > now() - interval '24 hours'`
  return count
}
