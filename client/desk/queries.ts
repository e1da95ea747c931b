import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import { createTRPCClient, httpLink } from '@trpc/client'
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import { useEffect } from 'react'
import type { Start } from '../../server/desk/pages.ts'
import type { DeskRouter } from '../../server/desk/procedures.ts'
import { AT_ONCE_MAX, AUTHOR_HEADER, FIRST_LIST } from '../../shared/desk.ts'
import { answeredStatus, fetchInTime } from '../trpc.ts'
import { currentReference, loadAnewAtNextOpening } from './route.ts'
import { leave } from './session.ts'

/*
 * What the server has, in react-query and nowhere else.
 *   the list   comes with the page; read anew by a tab, a filter, a search or "Show 3 new" (`reading`), so that no row moves by itself
 *   the pulse  comes with the page; then each visible minute and after each change: counts, and the rows that are shown (`showing`) as
 *              they are now. Of New also how many came after the newest that is listed (`fresh`), or all where none is
 *   enquiry    read when it is opened, and when its row has news
 * A change's answer has its rows, which take the place of those that are shown, as those of a pulse do (`receive`).
 */

export type Inputs = inferRouterInputs<DeskRouter>['desk']
type Outputs = inferRouterOutputs<DeskRouter>['desk']
export type Row = Outputs['list']['enquiries'][number]
export type Enquiry = Outputs['show']
export type Pulse = Outputs['pulse']
/** What we hold of a person. */
export type Held = Outputs['person']
export type Choice = Omit<Inputs['list'], 'before'>

/** The fields of an enquiry, as in the form. */
export type Fields = Inputs['correct']['now']

/** Takes the place of a row whose enquiry was erased. */
export interface Gone {
  reference: string
  isGone: true
}
export type Shown = Row | Gone
interface Page extends Omit<Outputs['list'], 'enquiries'> {
  enquiries: Shown[]
  /** Of To ring: the first that was not due when the list was read. */
  later?: string | undefined
}

/** Queries go by POST too: an address would hold what was searched for. */
export const trpc = createTRPCClient<DeskRouter>({
  links: [httpLink({ url: '/trpc', methodOverride: 'POST', fetch: fetchInTime, headers })],
})

/** A change is made under the session of its author only. */
function headers({ op: { context } }: { op: { context: { author?: string } } }): Record<string, string> {
  return context.author ? { [AUTHOR_HEADER]: encodeURIComponent(context.author) } : {}
}

/** Of the server, or that there was no answer. */
export function messageOf(error: Error): string {
  const isOurs = error.name !== 'TRPCClientError' || answeredStatus(error)
  return isOurs && error.message ? error.message : 'The server did not answer. Check your connection, then try again.'
}

function leaveIfOver(error: Error) {
  if (answeredStatus(error) === 401) leave()
}

export const client = new QueryClient({
  queryCache: new QueryCache({ onError: leaveIfOver }),
  mutationCache: new MutationCache({ onError: leaveIfOver }),
  // A refusal is final; an answer that did not come is asked for again.
  defaultOptions: { queries: { retry: (failures, error) => !answeredStatus(error) && failures < 2 } },
})

/** @param reading a list is read again only under another number: its rows do not move under a finger */
export function useList(choice: Choice, reading: number) {
  const queryKey = ['list', reading, choice]
  const list = useInfiniteQuery({
    queryKey,
    async queryFn({ pageParam, signal }): Promise<Page> {
      const page = await trpc.desk.list.query({ ...choice, ...(pageParam && { before: pageParam }) }, { signal })
      const later =
        choice.state === 'toRing' && page.enquiries.find(({ remindOn }) => remindOn && remindOn > page.today)
      return { ...page, ...(later && { later: later.reference }) }
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  })
  useEffect(() => {
    if (!list.isPlaceholderData) shownKey = queryKey
  })
  return list
}

/** What the page has come with. */
export function takeStart(): void {
  const script = document.getElementById('start')
  if (!script?.textContent) return
  start = JSON.parse(script.textContent) as Start
  const { pulse, list } = start
  client.setQueryData<Pulse>(['pulse'], pulse)
  if (list) client.setQueryData<Pages>(['list', 0, FIRST_LIST], { pages: [list], pageParams: [''] })
  script.remove() // what it holds may be erased, or the session end
}

export type List = ReturnType<typeof useList>
interface Pages {
  pages: Page[]
  pageParams: unknown[]
}

/** The key of the list that is shown. */
let shownKey: unknown[] = ['list', 0, FIRST_LIST]

/** The rows of the list that is shown. */
export function listedRows(): Shown[] {
  return client.getQueryData<Pages>(shownKey)?.pages.flatMap(({ enquiries }) => enquiries) ?? []
}

export const isGone = (row: Shown): row is Gone => 'isGone' in row

const LONG_AGO = '2000-01-01T00:00:00.000Z'

/** The time of the newest of the list: later ones are fresh, and all where it is empty. Undefined before a list is there. */
function newestOf(rows: Shown[]): string | undefined {
  if (!client.getQueryData(shownKey)) return undefined
  return rows.reduce((newest, row) => (isGone(row) || row.receivedAt < newest ? newest : row.receivedAt), LONG_AGO)
}

/** Each visible minute, when one comes back to the tab, and after each change: how what is shown stands now. */
export function usePulse() {
  return useQuery({
    queryKey: ['pulse'],
    async queryFn({ signal }) {
      const listed = listedRows()
      const current = currentReference()
      const showing = listed.filter((row) => !isGone(row)).map(({ reference }) => reference)
      const asked = [...new Set([...showing.slice(-AT_ONCE_MAX + 1), ...(current && [current])])]
      const newest = newestOf(listed)
      const pulse = await trpc.desk.pulse.query({ showing: asked, ...(newest && { newest }) }, { signal })
      const before = client.getQueryData<Pulse>(['pulse'])
      if (before && before.version !== pulse.version) loadAnewAtNextOpening()
      if (before && before.you !== pulse.you) location.reload() // somebody else has signed in, in another tab
      receive(pulse.rows, asked)
      return pulse
    },
    refetchInterval: 60_000, // only while the tab is visible
    refetchOnMount: false, // the page comes with the first one
    refetchOnWindowFocus: 'always',
  })
}

export function useEnquiry(reference: string) {
  return useQuery({
    queryKey: ['enquiry', reference],
    queryFn: ({ signal }) => trpc.desk.show.query({ reference }, { signal }),
    refetchOnMount: 'always',
    refetchOnWindowFocus: false, // the pulse tells of changes
  })
}

let start: Start | undefined
export const replyTitles = (): string[] => start?.replyTitles ?? []
export const staff = (): string[] => start?.staff ?? []
const localPart = (address: string): string => address.split('@')[0] ?? ''
/** `ravi`, of an address of staff; the whole where two of them begin so. */
export function shortName(address: string): string {
  const name = localPart(address)
  return staff().filter((each) => localPart(each) === name).length > 1 ? address : name
}
/** The address of whoever is signed in. */
export const you = (): string => client.getQueryData<Pulse>(['pulse'])?.you ?? ''

/** Also where nothing is known. */
const isOther = (known: Shown | undefined, row: Shown) => JSON.stringify(known) !== JSON.stringify(row)

/** Puts rows in place of those that are shown. Of those that were asked for, what is missing was erased. */
export function receive(rows: Row[], asked: string[] = []): void {
  const now = new Map<string, Shown>(asked.map((reference) => [reference, { reference, isGone: true }]))
  for (const row of rows) now.set(row.reference, row)
  const listed = new Map(listedRows().map((row) => [row.reference, row]))
  client.setQueriesData<Pages>({ queryKey: ['list'] }, (list) => {
    if (!list?.pages.some(({ enquiries }) => enquiries.some(({ reference }) => now.has(reference)))) return list
    const pages = list.pages.map((page) => ({
      ...page,
      enquiries: page.enquiries.map((row) => now.get(row.reference) ?? row),
    }))
    return { ...list, pages }
  })
  for (const [reference, row] of now) {
    const queryKey = ['enquiry', reference]
    const state = client.getQueryState<Enquiry>(queryKey)
    const shown = state?.data
    if (shown && !isGone(row)) {
      const { mails, history, notes, earlier, replies } = shown
      const next = { ...row, mails, history, notes, earlier, replies }
      client.setQueryData<Enquiry>(queryKey, next)
      if (isOther(shown, next)) client.invalidateQueries({ queryKey })
      continue
    }
    // Asked for anew, and an answer that is on its way, which may be older, is dropped. Not where the row has no news.
    if (isGone(row) || state?.error || isOther(listed.get(reference), row)) client.resetQueries({ queryKey })
  }
}
