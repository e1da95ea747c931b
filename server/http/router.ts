import { type AnyTRPCRouter, initTRPC } from '@trpc/server'
import type { FastifyInstance } from 'fastify'
import { orderSchema } from '../../shared/order.ts'
import { subscriptionSchema } from '../../shared/subscription.ts'
import type { Orders } from '../enquiries/orders.ts'
import type { Subscribers } from '../enquiries/subscribers.ts'
import type { Limit } from './admission.ts'
import { HttpError } from './error-answers.ts'

/** What a procedure may use. */
export interface Context {
  orders: Orders
  subscribers: Subscribers
}

const { router, procedure } = initTRPC.context<Context>().create()

export const appRouter = router({
  order: router({
    submit: procedure.input(orderSchema).mutation(({ ctx, input }) => ctx.orders.submit(input)),
  }),
  subscription: router({
    subscribe: procedure.input(subscriptionSchema).mutation(({ ctx, input }) => ctx.subscribers.subscribe(input)),
  }),
})

export type AppRouter = typeof appRouter

/** By their paths, such as `order.submit`. */
export const { procedures } = (appRouter as AnyTRPCRouter)._def

/**
 * Our procedures under `/trpc`, mutations all of them, one call a request. tRPC's own plugin wraps each request and answer
 * in web streams, which takes a third of the orders a second and fails on a Host header that is no host. A test compares
 * the answers of both. What is thrown is answered by the application, in the shape that tRPC's client reads.
 */
export function serveProcedures(app: FastifyInstance, ctx: Context, limit: Limit): void {
  app.all<{ Params: { path: string }; Querystring: { batch?: string } }>('/trpc/:path', {
    async onRequest(request, reply) {
      const { path } = request.params
      if (request.query.batch === '1')
        throw new HttpError(400, { message: 'One call a request: use httpLink, not httpBatchLink.' })
      if (!procedures[path]) throw new HttpError(404)
      if (request.method !== 'POST') {
        reply.header('allow', 'POST')
        throw new HttpError(405)
      }
      await limit(path === 'subscription.subscribe' ? 'subscription' : 'order', request, reply)
    },
    async handler({ params: { path }, body, signal }) {
      const call = { path, type: 'mutation' as const, ctx, batchIndex: 0, signal, getRawInput: async () => body }
      return { result: { data: await procedures[path]?.(call) } }
    },
  })
}
