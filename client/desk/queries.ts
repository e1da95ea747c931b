import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { createTRPCClient, httpLink, isTRPCClientError } from '@trpc/client'
import type { inferRouterOutputs } from '@trpc/server'
import { toast } from 'react-toastify/unstyled'
import type { DeskRouter } from '../../server/desk/procedures.ts'
import type { DeskState } from '../../shared/desk.ts'
import { leave } from './session.ts'

/* What the server has, in react-query and nowhere else. */

type Outputs = inferRouterOutputs<DeskRouter>['desk']
export type List = Outputs['list']
export type Row = List['enquiries'][number]
export type Enquiry = Outputs['show']
export interface Choice {
  state: DeskState
  order: 'newest' | 'oldest'
  text: string
}

/** Queries go by POST too: an address would hold what was searched for. */
export const trpc = createTRPCClient<DeskRouter>({ links: [httpLink({ url: '/trpc', methodOverride: 'POST' })] })

function statusOf(error: unknown): number | undefined {
  return isTRPCClientError<DeskRouter>(error) ? error.data?.httpStatus : undefined
}

/** Of the server, or that there was no answer. */
export function messageOf(error: Error): string {
  return statusOf(error) ? error.message : 'The server did not answer. Check your connection, then try again.'
}

function leaveIfOver(error: Error) {
  if (statusOf(error) === 401) leave()
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: leaveIfOver }),
    mutationCache: new MutationCache({ onError: leaveIfOver }),
    defaultOptions: {
      queries: {
        // A refusal is final; an answer that did not come is asked for again.
        retry: (failures, error) => !statusOf(error) && failures < 2,
        refetchOnWindowFocus: 'always',
        refetchInterval: 60_000, // only while the tab is visible
      },
    },
  })
}

export function useList({ state, order, text }: Choice) {
  return useInfiniteQuery({
    queryKey: ['list', state, order, text],
    queryFn: ({ pageParam, signal }) =>
      trpc.desk.list.query(
        { state, order, ...(text && { text }), ...(pageParam && { before: pageParam }) },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
}

export function useEnquiry(reference: string) {
  return useQuery({
    queryKey: ['enquiry', reference],
    queryFn: ({ signal }) => trpc.desk.show.query({ reference }, { signal }),
  })
}

interface ChangeOptions<Input> {
  send: (input: Input) => Promise<unknown>
  /** How the row looks at once, before the server has answered. */
  preview?: (row: Row, input: Input) => Partial<Row>
  /** Tells that it is done. Not given to `mutate`: the row that was changed may have left the list by then. */
  onDone?: (input: Input) => unknown
}

/** The tab of a row; a status of a newer version has none. */
function tabOf({ status, suspectedSpam }: Row): DeskState {
  return suspectedSpam ? 'spam' : (status.toLowerCase() as DeskState)
}

interface Pages {
  pages: List[]
  pageParams: unknown[]
}

/** The list with a row changed, and with the counts that follow. */
function withChange(list: Pages, reference: string, change: (row: Row) => Row): Pages {
  const before = list.pages.flatMap(({ enquiries }) => enquiries).find((row) => row.reference === reference)
  if (!before) return list
  const after = change(before)
  const countIn = (counts: List['counts'], tab: DeskState, by: number) => ({
    ...counts,
    [tab]: (counts[tab] ?? 0) + by,
  })
  return {
    ...list,
    pages: list.pages.map((page) => ({
      ...page,
      enquiries: page.enquiries.map((row) => (row === before ? after : row)),
      counts: countIn(countIn(page.counts, tabOf(before), -1), tabOf(after), 1),
    })),
  }
}

/**
 * Shows a change at once, and takes it back if the server refuses it. In the list the row stays where it is until the list is
 * read again: if it left at once, the next click would meet another row.
 */
export function useChange<Input extends { reference: string }>({ send, preview, onDone }: ChangeOptions<Input>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: Input) => send(input),
    async onMutate(input) {
      await client.cancelQueries()
      const before = client.getQueriesData({})
      const change = (row: Row) => ({ ...row, ...preview?.(row, input) })
      client.setQueriesData<Pages>({ queryKey: ['list'] }, (list) => list && withChange(list, input.reference, change))
      client.setQueryData<Enquiry>(['enquiry', input.reference], (row) => row && { ...row, ...change(row) })
      return before
    },
    onError(error, _input, before) {
      for (const [key, data] of before ?? []) client.setQueryData(key, data)
      toast.error(messageOf(error), { role: 'alert', autoClose: false })
    },
    onSuccess: (_answer, input) => onDone?.(input),
    onSettled(_answer, error) {
      client.invalidateQueries({ queryKey: ['list'], refetchType: error ? 'active' : 'none' })
      return client.invalidateQueries({ queryKey: ['enquiry'] })
    },
  })
}
