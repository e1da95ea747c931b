import { formatIndianTime } from '../../shared/indian-time.ts'
import type { Enquiry } from '../database/enquiry.ts'
import { type Entry, NOT_MINE, PROPOSAL, UNSUBSCRIBED, WITHDRAWN } from '../database/history.ts'
import { RequestError } from '../http/errors.ts'
import { changes } from './changes.ts'

/* The history of an enquiry in words. */

const words: Record<string, (entry: Entry) => string> = {
  'By phone': () => 'entered it by phone',
  [PROPOSAL]: ({ after }) =>
    `proposes ${after?.Mobile ? `the number ${after.Mobile}` : 'a number that is no longer kept'}`,
  [UNSUBSCRIBED]: () => 'ended the subscription of its address',
  [WITHDRAWN]: () => 'no longer needs it',
  [NOT_MINE]: () => 'says that the address is not theirs',
  ...Object.fromEntries(Object.values(changes).map(({ what, words }) => [what, words])),
}

/** @param entries of the same enquiry */
export function describeEntry(entry: Entry, entries: Entry[]): string {
  const original = entries.find(({ key }) => key === entry.takesBack)
  return original ? `${entry.what.toLowerCase()}: ${describeAlone(original)}` : describeAlone(entry)
}

function describeAlone(entry: Entry): string {
  return words[entry.what]?.(entry) ?? entry.what
}

export function isListed({ what }: Entry): boolean {
  return what !== changes.ring.what
}

/** `ravi@shop.example at 26 Nov 2026 10:40 IST: set to Contacted (was New)`, of the last entry that changed one of these columns. */
function describeLastChange(entries: Entry[], columns: string[], you: string): string | undefined {
  const last = entries.findLast(({ after }) => columns.some((column) => column in (after ?? {})))
  if (!last) return undefined
  const who = last.who === you ? 'You, in another tab,' : last.who
  return `${who} at ${formatIndianTime(last.at)}: ${describeEntry(last, entries)}`
}

/** What was changed since somebody saw it. Names the enquiry, and the colleague who was faster. */
export function conflict({ name, reference }: Enquiry, entries: Entry[], changed: string[], you: string) {
  const last = describeLastChange(entries, changed, you)
  const was = last ? `${last}.` : 'Somebody was faster.'
  return new RequestError(409, `${name}, ${reference}: ${was} Nothing was changed.`)
}
