import { httpLink, isTRPCClientError } from '@trpc/client'
import type { AnyRouter } from '@trpc/server'

/* How the forms of visitors, and the desk, reach the server. Each room makes a client of its own router. */

const ANSWER_TIMEOUT_MS = 15_000

let answeredAt: Date | undefined

/** When the server has last answered, by its own clock. */
export const lastAnswerAt = (): Date | undefined => answeredAt

/**
 * A call without an answer ends after ANSWER_TIMEOUT_MS. A refusal of a proxy (4xx that is not JSON) or of Node (431: too many
 * cookies) becomes one of ours without a message.
 */
export const fetchInTime: NonNullable<Parameters<typeof httpLink>[0]['fetch']> = async (url, options) => {
  const request = new AbortController() // older browsers have no AbortSignal.any
  const abort = () => request.abort()
  setTimeout(abort, ANSWER_TIMEOUT_MS)
  options?.signal?.addEventListener('abort', abort)
  const answer = await fetch(url, { ...(options as RequestInit), signal: request.signal })
  const { status, headers } = answer
  const date = headers.get('date')
  answeredAt = date ? new Date(date) : undefined
  const isOurs = headers.get('content-type')?.startsWith('application/json') && status !== 431
  if (status < 400 || status >= 500 || isOurs) return answer
  return new Response(JSON.stringify({ error: { code: 0, message: '', data: { httpStatus: status } } }), answer)
}

/** No batching: the server refuses it. */
export const links = [httpLink({ url: '/trpc', fetch: fetchInTime })]

/**
 * The status with which our server, or a proxy before it, refused. Undefined if there was no answer. A gateway's error page
 * and 408 (the request arrived too slowly) count as none.
 */
export function answeredStatus(error: unknown): number | undefined {
  const status = isTRPCClientError<AnyRouter>(error) ? error.data?.httpStatus : undefined
  return status === 408 ? undefined : status
}

/** How long the server asks to wait before the next try, if it does. */
export function retryAfterMs(error: unknown): number | undefined {
  if (answeredStatus(error) !== 429) return undefined
  const { meta } = error as { meta?: { response?: Response } }
  return Number(meta?.response?.headers.get('retry-after')) * 1000 || undefined
}

/** The server answered 400 to a form that our own check accepted: page and server are of different versions. */
export function isNotUnderstood(error: unknown): boolean {
  return isTRPCClientError<AnyRouter>(error) && error.data?.code === 'BAD_REQUEST'
}
