import { initTRPC } from '@trpc/server'
import { orderSchema } from '../../shared/order.ts'
import { subscriptionSchema } from '../../shared/subscription.ts'
import type { Orders } from '../enquiries/orders.ts'
import type { Subscribers } from '../enquiries/subscribers.ts'
import { answerTo, errorAnswer } from './error-answers.ts'

/** What a procedure may use. */
export interface Context {
  orders: Orders
  subscribers: Subscribers
}

const { router, procedure } = initTRPC.context<Context>().create({
  isDev: false, // else the answer carries the stack whenever NODE_ENV is not exactly "production"
  errorFormatter: ({ error }) => {
    const { status, problem } = answerTo(error)
    return errorAnswer(status, problem.message).error
  },
})

export const appRouter = router({
  order: router({
    submit: procedure.input(orderSchema).mutation(({ ctx, input }) => ctx.orders.submit(input)),
  }),
  subscription: router({
    subscribe: procedure.input(subscriptionSchema).mutation(({ ctx, input }) => ctx.subscribers.subscribe(input)),
  }),
})

export type AppRouter = typeof appRouter
