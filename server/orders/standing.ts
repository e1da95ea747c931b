import type { Standing } from '../../shared/form-outcome.ts'
import { formatIndianDate, formatIndianTime } from '../../shared/indian-time.ts'
import type { Enquiry } from '../database/enquiry.ts'
import { type Entry, historyFacts, PROPOSAL, WITHDRAWN } from '../database/history.ts'

/** What staff do is shown so much later: what they have pressed by mistake they take back before. */
const BEHIND_MS = 15 * 60_000

/** What the visitor's page may go by. */
export function shownEntries(entries: Entry[], now: Date): Entry[] {
  return entries.filter(({ byVisitor, at }) => byVisitor || now.getTime() - at.getTime() >= BEHIND_MS)
}

/** Where an enquiry stands for its visitor. Of staff it tells no name, reason, note, reminder or number of calls. */
export function readStanding(enquiry: Enquiry, entries: Entry[], now: Date): Standing {
  const shown = shownEntries(entries, now)
  const ofStatus = entries.filter(({ after }) => 'Status' in (after ?? {}))
  // An entry of staff is shown once it has stood for 15 minutes without another one in its place.
  const stood = ofStatus.filter((entry, index) => {
    const end = ofStatus[index + 1]?.at ?? now
    return entry.byVisitor || end.getTime() - entry.at.getTime() >= BEHIND_MS
  })
  const last = stood.at(-1)
  const status = toStatus(last)
  const call = shown.findLast(({ what, isTakenBack }) => what === 'Call' && !isTakenBack)
  const rang = call && (!last || call.at > last.at) ? call : undefined
  const proposed = historyFacts(entries, now).proposalEntry?.after?.Mobile
  const wasAnswered = status !== 'New' && stood.some((entry) => toStatus(entry) === 'Contacted')
  const wasRead = Boolean(call) || stood.some((entry) => !entry.byVisitor && toStatus(entry) !== 'New')
  return {
    status,
    ...(last && { since: formatIndianDate(last.at) }),
    ...(rang && { rang: { on: formatIndianDate(rang.at), ...numberAt(enquiry, entries, rang) } }),
    ...(enquiry.eraseAt && { eraseAt: eraseTime(enquiry.eraseAt) }),
    ...(typeof proposed === 'string' && proposed !== enquiry.mobile && { proposed: proposed.slice(-4) }),
    stepsDone: countSteps(wasAnswered, wasRead),
  }
}

function countSteps(wasAnswered: boolean, wasRead: boolean): number {
  if (wasAnswered) return 3
  return wasRead ? 2 : 1
}

/** A value of a newer version counts as New. */
function toStatus(change: Entry | undefined): Standing['status'] {
  if (change?.what === WITHDRAWN) return 'Withdrawn'
  const status = change?.after?.Status
  return status === 'Contacted' || status === 'Closed' ? status : 'New'
}

/** The end of the number that was rung, unless it was corrected since. */
function numberAt({ mobile }: Enquiry, entries: Entry[], call: Entry): { mobile?: string } {
  const isOther = entries.some(({ what, after, at }) => what !== PROPOSAL && at >= call.at && 'Mobile' in (after ?? {}))
  return isOther ? {} : { mobile: mobile.slice(-4) }
}

/** `10:40 on 29 November` */
function eraseTime(time: Date): string {
  return `${formatIndianTime(time).slice(12, 17)} on ${formatIndianDate(time)}`
}
