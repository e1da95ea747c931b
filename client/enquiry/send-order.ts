import { isTRPCClientError } from '@trpc/client'
import type { AppRouter } from '../../server/http/router.ts'
import { messages, type Order } from '../../shared/order.ts'
import { currentKey, forgetKey, keepKey, type SubmissionKey } from './submission-key.ts'
import { ForeignRefusal, trpc } from './trpc.ts'

const ANSWER_TIMEOUT_MS = 15_000

/**
 * Sends an order once, under the key of this filling of the form, so that a repeat is never a second order.
 *
 * 409 says that the key is stored with other content. After a try without an answer this means that the earlier
 * version did arrive and the visitor has changed it since: the changed one goes out at once under a key of its own.
 * Otherwise, as in a duplicated tab, it is told, and the next try has a new key.
 */
export async function sendOrder(order: Order, signal: AbortSignal) {
  if (signal.aborted) throw new Error('Stopped between two tries')
  const key = currentKey()
  try {
    return await send(order, key, signal)
  } catch (error) {
    if (answeredStatus(error) !== 409) throw error
    forgetKey()
    if (!key.unanswered) throw error
    return send(order, currentKey(), signal)
  }
}

async function send(order: Order, { key, unanswered }: SubmissionKey, stopped: AbortSignal) {
  keepKey({ key, unanswered: true })
  const request = new AbortController()
  const abort = () => request.abort()
  const timer = setTimeout(abort, ANSWER_TIMEOUT_MS)
  stopped.addEventListener('abort', abort)
  try {
    const answer = await trpc.order.submit.mutate({ ...order, submissionKey: key }, { signal: request.signal })
    forgetKey()
    return answer
  } catch (error) {
    const status = answeredStatus(error)
    const refused = status !== undefined && status >= 400 && status < 500
    if (refused) keepKey({ key, unanswered })
    throw error
  } finally {
    clearTimeout(timer)
    stopped.removeEventListener('abort', abort)
  }
}

/** What the visitor is told: the server's own words if it answered, else that nothing was stored. */
export function failureMessage(error: unknown) {
  return isTRPCClientError<AppRouter>(error) && error.data ? error.message : messages.failed
}

/** The status our server, or a refusal on the way, answered with. Nothing else is an answer, not even a gateway's error page. */
export function answeredStatus(error: unknown): number | undefined {
  if (!isTRPCClientError<AppRouter>(error)) return undefined
  return error.cause instanceof ForeignRefusal ? error.cause.status : error.data?.httpStatus
}

/** How long the server asks to wait before the next try. */
export function retryAfterMs(error: unknown): number | undefined {
  if (!isTRPCClientError<AppRouter>(error) || answeredStatus(error) !== 429) return undefined
  const { response } = Object(error.meta) as { response?: Response }
  const seconds = Number(response?.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined
}
