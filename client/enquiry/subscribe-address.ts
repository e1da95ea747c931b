import { isTRPCClientError } from '@trpc/client'
import type { AppRouter } from '../../server/http/router.ts'
import { problemOf } from '../../shared/order.ts'
import { readSubscriptionFields, subscriptionSchema } from '../../shared/subscription.ts'
import { subscribe } from '../content/contact.ts'
import { trpc } from './trpc.ts'

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
