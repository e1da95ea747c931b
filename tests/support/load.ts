import { setTimeout as sleep } from 'node:timers/promises'
import type { Order } from '../../shared/order.ts'
import { anOrder, submit } from './an-order.ts'

export interface LoadOptions {
  /** Where to send: read anew for each try, since a server may come back elsewhere. */
  url: () => string
  orders: number
  concurrency?: number
  /** Whether a client repeats an order, with the same key, until it has an answer. */
  retry: boolean
  /** Actions by number of acknowledged orders. They run in turn, and end before `sendOrders` resolves. */
  at?: Record<number, () => unknown>
}

export type LoadResult = Awaited<ReturnType<typeof sendOrders>>

const GIVE_UP_MS = 360_000

/** Clients that each send one order after the other, to a server that may come and go. */
export async function sendOrders({ url, orders, concurrency = 32, retry, at = {} }: LoadOptions) {
  const result = {
    sent: [] as Order[],
    /** The reference each acknowledged order was answered with, by submission key. */
    acknowledged: new Map<string, string>(),
    /** How many orders each address acknowledged. */
    acknowledgedBy: new Map<string, number>(),
    /** How often each status was answered; 0 for no answer. */
    statuses: new Map<number, number>(),
    /** Milliseconds of each answered try. */
    times: [] as number[],
  }
  const end = Date.now() + GIVE_UP_MS
  let happening: Promise<unknown> = Promise.resolve()
  async function client() {
    while (result.sent.length < orders) {
      const order = aUniqueOrder()
      result.sent.push(order)
      do {
        const start = performance.now()
        const address = url()
        const answer = await submit(address, order).catch(() => ({ status: 0, reference: undefined }))
        result.statuses.set(answer.status, (result.statuses.get(answer.status) ?? 0) + 1)
        if (answer.status) result.times.push(performance.now() - start)
        if (answer.status === 200 && answer.reference) {
          result.acknowledged.set(order.submissionKey, answer.reference)
          result.acknowledgedBy.set(address, (result.acknowledgedBy.get(address) ?? 0) + 1)
          const happens = at[result.acknowledged.size]
          if (happens) happening = happening.then(happens)
          break
        }
        await sleep(20)
      } while (retry && Date.now() < end)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  await happening
  return result
}

/** Each from another address, so that the limit on acknowledgements does not apply. */
export function aUniqueOrder(): Order {
  const submissionKey = crypto.randomUUID()
  return anOrder({
    submissionKey,
    email: `${submissionKey}@shop.example`,
    quantity: 1 + (submissionKey.charCodeAt(0) % 9),
  })
}

export function percentile(times: number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
