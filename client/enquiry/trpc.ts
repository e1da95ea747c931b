import { createTRPCClient, httpLink, isTRPCClientError } from '@trpc/client'
import type { AppRouter } from '../../server/http/router.ts'
import { problemOf } from '../../shared/order.ts'
import { readSubscriptionFields, subscriptionSchema } from '../../shared/subscription.ts'
import { subscribe } from '../content/contact.ts'

/** A refusal by something on the way, such as a proxy, that does not speak as our server does. */
export class ForeignRefusal extends Error {
  readonly status: number
  constructor(status: number) {
    super(`HTTP ${status}`)
    this.status = status
  }
}

/** One order a request: the server refuses batches. */
export const trpc = createTRPCClient<AppRouter>({
  links: [
    httpLink({
      url: '/trpc',
      async fetch(url, options) {
        const answer = await fetch(url, options as RequestInit)
        const { status, headers } = answer
        const isOurs = headers.get('content-type')?.startsWith('application/json')
        if (status >= 400 && status < 500 && !isOurs) throw new ForeignRefusal(status)
        return answer
      },
    }),
  ],
})

/** Stores the address and says what came of it. */
export async function subscribeAddress(data: FormData) {
  const checked = subscriptionSchema.safeParse(readSubscriptionFields(data))
  if (!checked.success) return { done: false, message: problemOf(checked.error).message }
  try {
    await trpc.subscription.subscribe.mutate(checked.data)
    return { done: true, message: subscribe.done }
  } catch (error) {
    const answered = isTRPCClientError<AppRouter>(error) && error.data && error.data.httpStatus < 500
    return { done: false, message: answered ? error.message : subscribe.failed }
  }
}
