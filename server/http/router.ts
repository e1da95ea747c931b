import { orderSchema } from '../../shared/order.ts'
import { subscriptionSchema } from '../../shared/subscription.ts'
import { publicProcedure, router } from './trpc.ts'

export const appRouter = router({
  order: router({
    submit: publicProcedure.input(orderSchema).mutation(({ ctx, input }) => ctx.orders.submit(input)),
  }),
  subscription: router({
    subscribe: publicProcedure.input(subscriptionSchema).mutation(({ ctx, input }) => ctx.subscribers.subscribe(input)),
  }),
})

export type AppRouter = typeof appRouter
