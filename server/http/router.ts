import { callTRPCProcedure, type inferRouterInputs, initTRPC } from '@trpc/server'
import type { FastifyInstance } from 'fastify'
import { orderSchema } from '../../shared/order.ts'
import { subscriptionSchema } from '../../shared/subscription.ts'
import type { Orders } from '../enquiries/orders.ts'
import type { Subscribers } from '../enquiries/subscribers.ts'
import { HttpError } from './error-answers.ts'
import type { RateLimits } from './rate-limit.ts'

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

type Inputs = inferRouterInputs<AppRouter>
/** `order.submit` or `subscription.subscribe`. */
type Path = { [Router in keyof Inputs]: `${Router}.${keyof Inputs[Router] & string}` }[keyof Inputs]

/** The rate limit of each procedure. */
const limitOf: Record<Path, 'order' | 'subscription'> = {
  'order.submit': 'order',
  'subscription.subscribe': 'subscription',
}

export function isProcedure(path = ''): path is Path {
  return Object.hasOwn(limitOf, path)
}

/**
 * Serves our procedures, all of them mutations, under `/trpc`. tRPC's own plugin converts each request and answer to web
 * streams, which costs a third of the order rate, and fails on an invalid Host header. A test compares the answers of
 * both. Errors are answered by the application, in the shape that tRPC's client reads.
 */
export function serveProcedures(app: FastifyInstance, parts: Context, limits: RateLimits): void {
  app.all<{ Params: { path: Path }; Querystring: { batch?: string } }>('/trpc/:path', {
    async onRequest(request, reply) {
      const { path } = request.params
      if (request.query.batch === '1')
        throw new HttpError(400, { message: 'One call a request: use httpLink, not httpBatchLink.' })
      if (!isProcedure(path)) throw new HttpError(404)
      if (request.method !== 'POST') {
        reply.header('allow', 'POST')
        throw new HttpError(405)
      }
      await limits.countOrRefuse(limitOf[path], request, reply)
    },
    async handler(request, reply) {
      const { params, body } = request
      const { path } = params
      const { orders, subscribers } = parts
      const data = await limits.countIfSuccessful(limitOf[path], request, reply, () =>
        callTRPCProcedure({
          router: appRouter,
          path,
          type: 'mutation',
          ctx: { orders, subscribers },
          batchIndex: 0,
          signal: undefined, // Fastify's costs an order a twelfth of its processor time
          getRawInput: async () => body,
        }),
      )
      return { result: { data } }
    },
  })
}
