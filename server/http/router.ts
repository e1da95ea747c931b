import { callTRPCProcedure, type inferRouterInputs } from '@trpc/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { orderSchema } from '../../shared/order.ts'
import { subscriptionSchema } from '../../shared/subscription.ts'
import { inputs } from '../desk/inputs.ts'
import { deskRouter } from './desk-router.ts'
import { HttpError } from './error-answers.ts'
import type { RateLimits } from './rate-limit.ts'
import { type Context, procedure, router } from './trpc.ts'

export const appRouter = router({
  order: router({
    submit: procedure.input(orderSchema).mutation(({ ctx, input }) => ctx.orders.submit(input)),
  }),
  subscription: router({
    subscribe: procedure.input(subscriptionSchema).mutation(({ ctx, input }) => ctx.subscribers.subscribe(input)),
  }),
  desk: deskRouter,
})

export type AppRouter = typeof appRouter

type Inputs = inferRouterInputs<AppRouter>
/** `order.submit` and so on. */
type PathOf<Router extends keyof Inputs> = { [Each in Router]: `${Each}.${keyof Inputs[Each] & string}` }[Router]
type VisitorPath = PathOf<Exclude<keyof Inputs, 'desk'>>
export type DeskPath = PathOf<'desk'>

/** The rate limit of each procedure for visitors. */
const limitOf: Record<VisitorPath, 'order' | 'subscription'> = {
  'order.submit': 'order',
  'subscription.subscribe': 'subscription',
}

export function isVisitorProcedure(path = ''): path is VisitorPath {
  return Object.hasOwn(limitOf, path)
}

export function isProcedure(path = ''): path is VisitorPath | DeskPath {
  return isVisitorProcedure(path) || (path.startsWith('desk.') && Object.hasOwn(inputs, path.slice('desk.'.length)))
}

/** All procedures are called by POST, so that no input is in an address. */
export function assertPost({ method }: FastifyRequest, reply: FastifyReply): void {
  if (method === 'POST') return
  reply.header('allow', 'POST')
  throw new HttpError(405)
}

/**
 * Calls a procedure with the body as its input. Why not by tRPC's own plugin: docs/decisions/0005. A test
 * compares the answers of both.
 */
export async function callProcedure(path: VisitorPath | DeskPath, body: unknown, ctx: Context) {
  return callTRPCProcedure({
    router: appRouter,
    path,
    type: 'mutation',
    allowMethodOverride: true, // queries too
    ctx,
    batchIndex: 0,
    signal: undefined, // docs/decisions/0005
    getRawInput: async () => body,
  })
}

/** Serves the procedures for visitors. Errors are answered by the application, in the shape that tRPC's client reads. */
export function serveProcedures(app: FastifyInstance, parts: Context, limits: RateLimits): void {
  const { orders, subscribers, desk } = parts
  app.all<{ Params: { path: VisitorPath }; Querystring: { batch?: string } }>('/trpc/:path', {
    async onRequest(request, reply) {
      const { path } = request.params
      if (request.query.batch === '1')
        throw new HttpError(400, { message: 'One call a request: use httpLink, not httpBatchLink.' })
      if (!isVisitorProcedure(path)) throw new HttpError(404)
      assertPost(request, reply)
      await limits.countOrRefuse(limitOf[path], request, reply)
    },
    async handler(request, reply) {
      const { path } = request.params
      const data = await limits.countIfSuccessful(limitOf[path], request, reply, () =>
        callProcedure(path, request.body, { orders, subscribers, desk }),
      )
      return { result: { data } }
    },
  })
}
