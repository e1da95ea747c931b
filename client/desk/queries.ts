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
import type { AppRouter } from '../../server/http/router.ts'
import type { DeskState } from '../../shared/desk.ts'
import { leave } from './session.ts'

/* What the server has, in react-query and nowhere else. */

type Outputs = inferRouterOutputs<AppRouter>['desk']
export type List = Outputs['list']
export type Row = List['enquiries'][number]
export type Enquiry = Outputs['show']
export interface Choice {
  state: DeskState
  order: 'newest' | 'oldest'
  text: string
}

/** Queries go by POST too: an address would hold what was searched for. */
export const trpc = createTRPCClient<AppRouter>({ links: [httpLink({ url: '/trpc', methodOverride: 'POST' })] })

function statusOf(error: unknown): number | undefined {
  return isTRPCClientError<AppRouter>(error) ? error.data?.httpStatus : undefined
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

/** Shows a change at once, takes it back if the server refuses it, and reads anew what the server has. */
export function useChange<Input extends { reference: string }>({ send, preview, onDone }: ChangeOptions<Input>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: Input) => send(input),
    async onMutate(input) {
      await client.cancelQueries()
      const before = client.getQueriesData({})
      const change = (row: Row) => (row.reference === input.reference ? { ...row, ...preview?.(row, input) } : row)
      client.setQueriesData<{ pages: List[] }>(
        { queryKey: ['list'] },
        (list) =>
          list && { ...list, pages: list.pages.map((page) => ({ ...page, enquiries: page.enquiries.map(change) })) },
      )
      client.setQueryData<Enquiry>(['enquiry', input.reference], (row) => row && { ...row, ...change(row) })
      return before
    },
    onError(error, _input, before) {
      for (const [key, data] of before ?? []) client.setQueryData(key, data)
      toast.error(messageOf(error), { role: 'alert', autoClose: false })
    },
    onSuccess: (_answer, input) => onDone?.(input),
    onSettled: () => client.invalidateQueries(),
  })
}
