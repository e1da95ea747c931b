import type { DeskState } from '../../shared/desk.ts'
import { isDue } from './format.ts'
import type { Row } from './queries.ts'

export const tabs: Record<DeskState, string> = {
  new: 'New',
  toRing: 'To ring',
  contacted: 'Contacted',
  closed: 'Closed',
  spam: 'Suspected spam',
  all: 'All',
}

/**
 * Whether a list of this tab has it, as `ofTab` of server/desk/chosen.ts says in SQL: desk-interface.test.ts holds them against each
 * other. @param today in India
 */
export function belongsTo(
  state: DeskState,
  row: Pick<Row, 'status' | 'suspectedSpam' | 'remindOn' | 'eraseAt'>,
  today: string,
): boolean {
  const { status, suspectedSpam, remindOn, eraseAt } = row
  if (state === 'all') return true
  if (state === 'spam') return status === 'New' && suspectedSpam
  if (suspectedSpam) return false
  if (state === 'new') return status === 'New' && !eraseAt && (!remindOn || isDue(remindOn, today))
  if (state === 'toRing') return Boolean(remindOn) && status !== 'Closed' && !eraseAt
  return status.toLowerCase() === state
}
