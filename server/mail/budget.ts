import type { Db } from '../database/database.ts'
import type { MailKind } from '../database/generated/enums.ts'
import { DAY_MS } from '../format.ts'

/*
 * MAIL_DAILY_BUDGET limits one count: the mails that were tried in the last 24 hours. A mail has one receiver, so this counts
 * receivers, as Resend does. 0: no limit.
 */

/** A kind is sent while the count is below this percentage of the budget. */
const SHARES: Record<MailKind, number> = {
  Summary: 100,
  SignIn: 100,
  Notice: 75,
  Confirmation: 60,
  Acknowledgement: 60,
  Post: Number.POSITIVE_INFINITY,
}
/** Links to the desk in 24 hours, for all strangers together: nobody can use up the mails of a day by asking. */
export const STRANGERS_A_DAY = 20
const SUMMARY_INTERVAL_MIN_MS = 600_000

export function isOpen(kind: MailKind, budget: number, count: number): boolean {
  return budget === 0 || count < (SHARES[kind] * budget) / 100
}

/** Notices stop at 75 %. The rest pays for summaries, evenly over the day: with 100 mails and one receiver about one an hour. */
export function summaryIntervalMs(budget: number, receivers: number): number {
  if (budget === 0) return SUMMARY_INTERVAL_MIN_MS
  const leftByNotices = ((100 - SHARES.Notice) * budget) / 100
  return Math.max(SUMMARY_INTERVAL_MIN_MS, (DAY_MS * receivers) / leftByNotices)
}

export async function readCount(db: Pick<Db, '$queryRaw'>): Promise<number> {
  const [{ count }] = await db.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS "count" FROM "Quvera_Mail"
    WHERE "FirstTriedAt" BETWEEN now() - interval '24 hours' AND now() AND "Kind" <> 'Post'`
  return count
}
