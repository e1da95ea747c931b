import type { Db } from '../database/database.ts'
import { DAY_MS } from '../format.ts'
import { kinds, mailKinds, type SentKind, storedKinds } from './states.ts'

/* MAIL_DAILY_BUDGET: one count of the mails of the last 24 hours, as Resend counts them, one for each receiver. */

export interface Budget {
  /** Mails in 24 hours. 0 for no limit. */
  mails: number
  /** How many receive a mail to staff. */
  receivers: number
}

export interface Limits {
  /** How many mails of each kind may be sent now. */
  each: Record<SentKind, number>
  /** How many mails together exceed no share, whichever kinds they are of. */
  together: number
}

/** A kind is sent while the count is below this percentage of the budget. */
const SHARES: Record<SentKind, number> = { Summary: 100, Notice: 75, Confirmation: 70, Acknowledgement: 60 }
/** What notices leave to summaries, in percent. */
const SUMMARIES = SHARES.Summary - SHARES.Notice
const SUMMARY_INTERVAL_MIN_MS = 600_000

function receiversOf(kind: SentKind, { receivers }: Budget): number {
  return kinds[kind].to === 'staff' ? receivers : 1
}

/** Every share but that of summaries leaves room for one summary. */
function shareOf(kind: SentKind, { mails, receivers }: Budget): number {
  if (mails === 0) return Number.POSITIVE_INFINITY
  return Math.min(Math.floor((SHARES[kind] * mails) / 100), kind === 'Summary' ? mails : mails - receivers)
}

export function limitsOf(budget: Budget, used: number): Limits {
  const left = (kind: SentKind) => shareOf(kind, budget) - used
  const each = Object.fromEntries(
    mailKinds.map((kind) => [kind, Math.max(0, Math.floor(left(kind) / receiversOf(kind, budget)))]),
  ) as Limits['each']
  const smallest = Math.min(...mailKinds.filter((kind) => each[kind] > 0).map(left))
  return { each, together: Math.max(1, Math.floor(smallest / budget.receivers)) }
}

/** An hour with a budget of 100 and one receiver. At most a day: a small budget still pays for one summary a day. */
export function summaryIntervalMs({ mails, receivers }: Budget): number {
  if (mails === 0) return SUMMARY_INTERVAL_MIN_MS
  const share = (SUMMARIES * mails) / 100
  return Math.min(DAY_MS, Math.max(SUMMARY_INTERVAL_MIN_MS, (DAY_MS * receivers) / share))
}

/** The count. A mail counts from its first try on; one that was certainly not sent does not count. */
export async function readUsed(db: Db, { mails, receivers }: Budget): Promise<number> {
  if (mails === 0) return 0
  const [{ used }] = await db.$queryRaw<[{ used: number }]>`
    SELECT coalesce(sum(CASE WHEN "Kind" IN ('Staff', 'Summary') THEN ${receivers}::int ELSE 1 END), 0)::int AS "used"
    FROM "Quvera_Mail" WHERE "Kind" = ANY(${storedKinds(mailKinds)}) AND "TriedAt" > now() - interval '24 hours'`
  return used
}
