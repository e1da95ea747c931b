import { createTRPCClient } from '@trpc/client'
import type { OrderRouter } from '../../server/orders/procedure.ts'
import type { OrderContent } from '../../shared/order.ts'
import { answeredStatus, lastAnswerAt, links } from '../trpc.ts'
import { forgetKey, type OrderKey, refused, startTry } from './order-key.ts'

const trpc = createTRPCClient<OrderRouter>({ links })

export interface SentOrder {
  reference: string
  /** The path of the visitor's page. It is kept nowhere. */
  page: string | undefined
  /** By the server's clock. */
  receivedAt: Date | undefined
  /** It had been received before. */
  isEarlier: boolean
}

/** Between two tries. */
export class Stopped extends Error {}

/**
 * One try to send an order, under the key of its product: a repeat is never a second order.
 *
 * 409 says that the key is stored with other content. After a try without an answer this means that the earlier version did
 * arrive and the visitor has changed it since: the changed one goes out at once under a key of its own. Without such a try, as
 * in a duplicated tab, the visitor is told, and the next try has a new key.
 */
export async function sendOrder(order: OrderContent, signal: AbortSignal): Promise<SentOrder> {
  if (signal.aborted) throw new Stopped()
  const key = startTry(order.products)
  try {
    return await submit(order, key, signal)
  } catch (error) {
    if (answeredStatus(error) !== 409) throw error
    forgetKey(key)
    if (key.open === 0) throw error
    return submit(order, startTry(order.products), signal)
  }
}

async function submit(order: OrderContent, key: OrderKey, signal: AbortSignal): Promise<SentOrder> {
  try {
    const { reference, page, receivedAt } = await trpc.order.submit.mutate(
      { ...order, submissionKey: key.key },
      { signal },
    )
    const isEarlier = receivedAt !== undefined
    return { reference, page, receivedAt: isEarlier ? new Date(receivedAt) : lastAnswerAt(), isEarlier }
  } catch (error) {
    const status = answeredStatus(error) ?? 0
    if (status >= 400 && status < 500) refused(key)
    throw error
  }
}
