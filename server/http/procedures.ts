import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HttpError } from './error-answers.ts'
import { appRouter } from './router.ts'
import { isForeign } from './security.ts'
import type { Context } from './trpc.ts'
import { type Call, methodOf, serveTrpc } from './trpc-adapter.ts'

export interface ProcedureOptions extends Context {
  /** The address visitors use: requests from other sites are turned away. */
  publicUrl: string
  /** Orders, and subscriptions, a minute and client address; 0 for no limit. */
  rateLimitMax: number
}

const MINUTE_MS = 60_000
/** What is worth a look into the log: a fault of ours, or a row that the database refuses. */
const FAULTS = new Set(['INTERNAL_SERVER_ERROR', 'UNPROCESSABLE_CONTENT'])
const SUBSCRIBE = 'subscription.subscribe'

/** The procedures under `/trpc`, and what a request must be before one of them sees it. */
export function serveProcedures(app: FastifyInstance, options: ProcedureOptions): void {
  const { orders, subscribers, publicUrl, rateLimitMax } = options
  app.register(
    async (procedures) => {
      await procedures.register(rateLimit, { global: false, max: rateLimitMax, timeWindow: MINUTE_MS })
      const limitOrders = procedures.createRateLimit()
      const limitSubscriptions = procedures.createRateLimit()

      procedures.addHook('onRequest', async (plainRequest, reply) => {
        const request = plainRequest as Call
        const method = methodOf(appRouter, request.params.path)
        if (method && request.method !== method) {
          reply.header('allow', method)
          throw new HttpError(405)
        }
        if (isForeign(request, publicUrl)) throw new HttpError(403)
        if (request.method !== 'POST') return
        if (!isPlainJson(request)) throw new HttpError(415)
        if (rateLimitMax === 0) return
        const used = await (request.params.path === SUBSCRIBE ? limitSubscriptions : limitOrders)(request)
        if (used.isAllowed || !used.isExceeded) return
        reply.header('retry-after', String(used.ttlInSeconds))
        throw new HttpError(429)
      })

      serveTrpc(procedures, {
        router: appRouter,
        createContext: () => ({ orders, subscribers }),
        onError(error, { log }) {
          // That the database is away is said once, where it is noticed.
          if (FAULTS.has(error.code)) log.error({ err: error.cause ?? error }, 'a request could not be served')
          else log.debug({ code: error.code }, 'a request was turned away')
        },
      })
    },
    { prefix: '/trpc' },
  )
}

function isPlainJson({ headers }: FastifyRequest): boolean {
  const type = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i
  return type.test(headers['content-type'] ?? '') && (headers['content-encoding'] ?? 'identity') === 'identity'
}
