import { v4 as randomUuid } from 'uuid'
import type { OrderContent } from '../../shared/order.ts'
import { readStoredKey, type SubmissionKey, writeStoredKey } from './submission-key.ts'
import { answeredStatus, trpc } from './trpc.ts'

/** A longer `Retry-After` comes from the daily limit. The form does not wait for it. */
const WAIT_MAX_SECONDS = 120

/**
 * Sends an order under the key of this form, so that a repeat is never a second order. order-form.tsx forgets the key
 * once the visitor sees the reference.
 *
 * 409 says that the key is stored with other content. After a try without an answer this means that the earlier
 * version did arrive and the visitor has changed it since: the changed one goes out at once under a key of its own.
 * Without such a try, as in a duplicated tab, the visitor is told, and the next try has a new key.
 */
export async function sendOrder(order: OrderContent, signal: AbortSignal) {
  if (signal.aborted) throw new Error('Stopped between two tries')
  const key = currentKey()
  try {
    return await send(order, key, signal)
  } catch (error) {
    if (answeredStatus(error) !== 409) throw error
    setCurrentKey(null) // the key belongs to other content: no later order has it
    if (!key.maybeStored) throw error
    return send(order, currentKey(), signal)
  }
}

async function send(order: OrderContent, keyBeforeTry: SubmissionKey, signal: AbortSignal) {
  setCurrentKey({ key: keyBeforeTry.key, maybeStored: true })
  try {
    return await trpc.order.submit.mutate({ ...order, submissionKey: keyBeforeTry.key }, { signal })
  } catch (error) {
    const status = answeredStatus(error) ?? 0
    if (status >= 400 && status < 500) setCurrentKey(keyBeforeTry) // a refusal stored nothing: the key is as it was
    throw error
  }
}

/** How long the server asks to wait before the next try. */
export function retryAfterMs(error: unknown): number | undefined {
  if (answeredStatus(error) !== 429) return undefined
  const { meta } = error as { meta?: { response?: Response } }
  const seconds = Number(meta?.response?.headers.get('retry-after'))
  return seconds > 0 && seconds <= WAIT_MAX_SECONDS ? seconds * 1000 : undefined
}

let current: SubmissionKey | null = null

export function currentKey(): SubmissionKey {
  current ??= readStoredKey() ?? { key: randomUuid(), maybeStored: false }
  return current
}

/** `null` forgets it: the next order has a new one. If the browser refuses storage, the key lasts as long as the page. */
export function setCurrentKey(key: SubmissionKey | null) {
  current = key
  writeStoredKey(key)
}
