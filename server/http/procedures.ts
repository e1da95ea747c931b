import type { FastifyInstance } from 'fastify'
import type { Admission } from './admission.ts'
import { HttpError, logFailure } from './error-answers.ts'
import { SUBSCRIPTIONS } from './route-name.ts'
import { appRouter } from './router.ts'
import type { Context } from './trpc.ts'
import { type Call, methodOf, serveTrpc } from './trpc-adapter.ts'

/** The procedures under `/trpc`, and what a request must be before one of them sees it. */
export function serveProcedures(app: FastifyInstance, { orders, subscribers }: Context, admission: Admission): void {
  app.register(
    async (procedures) => {
      procedures.addHook('onRequest', async (plainRequest, reply) => {
        const request = plainRequest as Call
        // Also HEAD, to which tRPC and so the adapter answers 204 whatever is asked for.
        const method = methodOf(appRouter, request.params.path)
        if (method && request.method !== method) {
          reply.header('allow', method)
          throw new HttpError(405)
        }
        admission.checkOrigin(request)
        if (request.method !== 'POST') return
        admission.checkType(request, 'application/json')
        await admission.count(request.params.path === SUBSCRIPTIONS ? 'subscription' : 'order', request, reply)
      })

      serveTrpc(procedures, {
        router: appRouter,
        createContext: () => ({ orders, subscribers }),
        onError: (error, { log }) => logFailure(error, log),
      })
    },
    { prefix: '/trpc' },
  )
}
