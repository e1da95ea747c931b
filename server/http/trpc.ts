import { callTRPCProcedure, initTRPC } from '@trpc/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { orderSchema } from '../../shared/order.ts'
import { subscriptionSchema } from '../../shared/subscription.ts'
import { inputs } from '../desk/inputs.ts'
import type { Session } from '../desk/sessions.ts'
import { RequestError } from '../errors.ts'
import type { Context } from './context.ts'
import type { RateLimits } from './limits.ts'

interface CallContext extends Context {
  /** Of a call of the desk. */
  session?: Session
}

const { router, procedure } = initTRPC.context<CallContext>().create()

/** For a session only. desk-routes.ts refuses calls without one earlier, before their input is read. */
const deskProcedure = procedure.use(({ ctx: { desk, session }, next }) => {
  if (!session) throw new RequestError(401)
  return next({ ctx: { desk, session } })
})

export const appRouter = router({
  order: router({
    submit: procedure.input(orderSchema).mutation(({ ctx, input }) => ctx.orders.submit(input)),
  }),
  subscription: router({
    subscribe: procedure.input(subscriptionSchema).mutation(({ ctx, input }) => ctx.subscribers.subscribe(input)),
  }),
  desk: router({
    list: deskProcedure.input(inputs.list).query(({ ctx, input }) => ctx.desk.list(ctx.session, input)),
    show: deskProcedure.input(inputs.show).query(({ ctx, input }) => ctx.desk.show(ctx.session, input)),
    setStatus: deskProcedure
      .input(inputs.setStatus)
      .mutation(({ ctx, input }) => ctx.desk.setStatus(ctx.session, input)),
    setSpam: deskProcedure.input(inputs.setSpam).mutation(({ ctx, input }) => ctx.desk.setSpam(ctx.session, input)),
    addNote: deskProcedure.input(inputs.addNote).mutation(({ ctx, input }) => ctx.desk.addNote(ctx.session, input)),
    removeNote: deskProcedure
      .input(inputs.removeNote)
      .mutation(({ ctx, input }) => ctx.desk.removeNote(ctx.session, input)),
    addCall: deskProcedure.input(inputs.addCall).mutation(({ ctx, input }) => ctx.desk.addCall(ctx.session, input)),
    sendAgain: deskProcedure
      .input(inputs.sendAgain)
      .mutation(({ ctx, input }) => ctx.desk.sendAgain(ctx.session, input)),
  }),
})

export type AppRouter = typeof appRouter

/** The procedures for visitors, each with its rate limit. */
const limitOf = { 'order.submit': 'order', 'subscription.subscribe': 'mailToStranger' } as const
type VisitorPath = keyof typeof limitOf
export type DeskPath = `desk.${keyof typeof inputs}`

export function isVisitorProcedure(path = ''): path is VisitorPath {
  return Object.hasOwn(limitOf, path)
}

export function isDeskProcedure(path = ''): path is DeskPath {
  return path.startsWith('desk.') && Object.hasOwn(inputs, path.slice('desk.'.length))
}

/** All procedures are called by POST, queries too: what the desk searches for must not be in an address. */
export function assertPost({ method }: FastifyRequest, reply: FastifyReply): void {
  if (method === 'POST') return
  reply.header('allow', 'POST')
  throw new RequestError(405)
}

/**
 * Calls a procedure with the body as its input. Why not by tRPC's own plugin: docs/decisions/0005. A test
 * compares the answers of both.
 */
export async function callProcedure(path: VisitorPath | DeskPath, body: unknown, ctx: CallContext) {
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
export function serveProcedures(app: FastifyInstance, context: Context, limits: RateLimits): void {
  app.all<{ Params: { path: VisitorPath }; Querystring: { batch?: string } }>('/trpc/:path', {
    async onRequest(request, reply) {
      const { path } = request.params
      if (request.query.batch === '1')
        throw new RequestError(400, 'One call a request: use httpLink, not httpBatchLink.')
      if (!isVisitorProcedure(path)) throw new RequestError(404)
      assertPost(request, reply)
      await limits.countOrRefuse(limitOf[path], request, reply)
    },
    async handler(request, reply) {
      const { path } = request.params
      const call = () => callProcedure(path, request.body, context)
      return { result: { data: await limits.countIfSuccessful(limitOf[path], request, reply, call) } }
    },
  })
}
