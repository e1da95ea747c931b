import { isTRPCClientError } from '@trpc/client'
import type { AppRouter } from '../../server/http/router.ts'
import { messages, type OrderContent } from '../../shared/order.ts'
import { ForeignRefusal, trpc } from './trpc.ts'

const ANSWER_TIMEOUT_MS = 15_000
/** Longer is not waited for: the limit of a day. */
const WAIT_MAX_SECONDS = 120

/**
 * Sends an order once, under the key of this filling of the form, so that a repeat is never a second order.
 *
 * 409 says that the key is stored with other content. After a try without an answer this means that the earlier
 * version did arrive and the visitor has changed it since: the changed one goes out at once under a key of its own.
 * Otherwise, as in a duplicated tab, it is told, and the next try has a new key.
 */
export async function sendOrder(order: OrderContent, signal: AbortSignal) {
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

async function send(order: OrderContent, { key, unanswered }: SubmissionKey, stopped: AbortSignal) {
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

/** What the visitor is told: the server's own words if it answered. */
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
  return seconds > 0 && seconds <= WAIT_MAX_SECONDS ? seconds * 1000 : undefined
}

/**
 * The key that makes one filling of the form one order, however often it is sent. It is kept for the tab, so that a
 * reload or the back button after a lost answer sends the same key again. Nothing that was typed is kept.
 */
export interface SubmissionKey {
  key: string
  /** A try with this key ended without an answer, so the server may have stored what was sent. */
  unanswered: boolean
}

const STORE = 'submission-key'
let current: SubmissionKey | undefined

export function currentKey(): SubmissionKey {
  current ??= stored() ?? { key: randomUuid(), unanswered: false }
  return current
}

export function keepKey(key: SubmissionKey) {
  current = key
  try {
    sessionStorage.setItem(STORE, JSON.stringify(key))
  } catch {
    // A browser may refuse storage; the key then lives as long as the page.
  }
}

export function forgetKey() {
  current = undefined
  try {
    sessionStorage.removeItem(STORE)
  } catch {
    // As above.
  }
}

function stored(): SubmissionKey | undefined {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(STORE) ?? 'null')
    if (typeof value !== 'object' || value === null || !('key' in value) || !('unanswered' in value)) return undefined
    return typeof value.key === 'string' ? { key: value.key, unanswered: value.unanswered === true } : undefined
  } catch {
    return undefined
  }
}

/** `crypto.randomUUID` exists on https and localhost only. */
function randomUuid() {
  if ('randomUUID' in crypto) return crypto.randomUUID()
  const bytes = (crypto as Crypto).getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
