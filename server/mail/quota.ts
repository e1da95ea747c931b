import { DAY_MS } from '../format.ts'
import type { SentKind } from './states.ts'

/* The daily budget: 30 % notices, 25 % summaries, 30 % acknowledgements, 10 % confirmations, 5 % digests and repeated tries. */

export interface Budget {
  /** Mails in 24 hours, as Resend counts them: one for each receiver. 0 for no limit. */
  mails: number
  /** How many receive a mail to staff. At most `mails`, unless that is 0. */
  receivers: number
}

export type CountByKind = Record<SentKind, number>

const NO_BUDGET_PAUSE_MS = 600_000

/** Summaries in 24 hours, not rounded. */
function summaryShare({ mails, receivers }: Budget): number {
  return Math.max(1, (0.25 * mails) / receivers)
}

export function sharesOf(budget: Budget): CountByKind {
  const { mails, receivers } = budget
  const Notice = Math.floor((0.3 * mails) / receivers)
  const Summary = Math.ceil(summaryShare(budget))
  const toVisitors = Math.max(0, mails - (Notice + Summary) * receivers)
  const Acknowledgement = Math.min(Math.floor(0.3 * mails), toVisitors)
  const Confirmation = Math.min(Math.floor(0.1 * mails), toVisitors - Acknowledgement)
  return { Notice, Summary, Acknowledgement, Confirmation }
}

/** How many may be sent now. Only `summaryPauseMs` keeps summaries within their share. */
export function allowanceOf(budget: Budget, used: CountByKind): CountByKind {
  const { mails, receivers } = budget
  const all = Number.POSITIVE_INFINITY
  if (mails === 0) return { Notice: all, Summary: all, Acknowledgement: all, Confirmation: all }
  const shares = sharesOf(budget)
  const left = mails - (used.Notice + used.Summary) * receivers - used.Acknowledgement - used.Confirmation
  const within = (wanted: number, most: number) => Math.max(0, Math.min(wanted, most))
  const toStaff = Math.max(0, Math.floor(left / receivers))
  return {
    Summary: toStaff,
    Notice: within(shares.Notice - used.Notice, toStaff),
    Acknowledgement: within(shares.Acknowledgement - used.Acknowledgement, left),
    Confirmation: within(shares.Confirmation - used.Confirmation, left),
  }
}

/** How long to wait after the last of `summaries` in 24 hours. The pauses grow with each, and add up to about 24 hours. */
export function summaryPauseMs(budget: Budget, summaries: number): number {
  if (budget.mails === 0) return NO_BUDGET_PAUSE_MS
  return (2 * DAY_MS * summaries) / summaryShare(budget) ** 2
}
