import { filters } from '../../shared/desk.ts'
import { count } from './format.ts'
import { type Choice, type List, messageOf } from './queries.ts'

export const NO_FILTERS: Partial<Choice> = Object.fromEntries(filters.map((name) => [name, undefined]))

export const hasFilters = (choice: Choice) => filters.some((name) => name in choice)

/** What there is to say instead of a list, and, for those who do not see it, of the list. */
export function textOf(
  list: List,
  choice: Choice,
  { shown, total = shown, toRing }: { shown: number; total: number | undefined; toRing: number },
): string {
  const { state, text } = choice
  if (list.isError && !list.data) return messageOf(list.error)
  if (!list.data) return 'Loading …'
  const enquiries = `${count(total)} ${total === 1 ? 'enquiry' : 'enquiries'}`
  if (shown > 0 && total > shown) return `${enquiries}, ${count(shown)} shown`
  if (shown > 0) return `${enquiries} ${text ? 'found' : 'shown'}${list.hasNextPage ? ', and more' : ''}`
  if (text) return `Nothing found for “${text}”${hasFilters(choice) ? ' with these filters' : ''}.`
  if (hasFilters(choice)) return 'Nothing with these filters.'
  if (state !== 'new') return 'Nothing yet.'
  return toRing > 0 ? `Nothing new. ${count(toRing)} to ring.` : 'Nothing new. Everybody has an answer.'
}
