import rateLimit from '@fastify/rate-limit'
import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import type { FastifyInstance } from 'fastify'
import type { Orders } from './orders.ts'
import { HttpError } from './refusals.ts'
import { type AppRouter, appRouter } from './router.ts'
import { isForeign } from './security.ts'
import type { Subscribers } from './subscribers.ts'

export interface ApiOptions {
  orders: Orders
  subscribers: Subscribers
  publicUrl: string
  /** Orders, and subscriptions, a minute and client address; 0 for no limit. */
  rateLimitMax: number
}

const MINUTE_MS = 60_000
const SUBSCRIBE = 'subscription.subscribe'

/** The tRPC procedures under `/trpc`, and what a request must be before one of them sees it. */
export function serveApi(app: FastifyInstance, { orders, subscribers, publicUrl, rateLimitMax }: ApiOptions): void {
  app.register(
    async (api) => {
      await api.register(rateLimit, { global: false, max: rateLimitMax, timeWindow: MINUTE_MS })
      const submits = api.createRateLimit()
      const subscriptions = api.createRateLimit({ max: rateLimitMax, timeWindow: MINUTE_MS })

      api.addHook('onRequest', async (request, reply) => {
        if (isForeign(request, publicUrl)) throw new HttpError(403)
        const isJson = /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')
        if (request.method === 'POST' && !isJson) throw new HttpError(415)
        if (rateLimitMax === 0) return
        const { path } = request.params as { path?: string }
        const used = await (path === SUBSCRIBE ? subscriptions : submits)(request)
        if (used.isAllowed || !used.isExceeded) return
        reply.header('retry-after', String(used.ttlInSeconds))
        throw new HttpError(429)
      })

      await api.register(fastifyTRPCPlugin, {
        trpcOptions: {
          router: appRouter,
          allowBatching: false, // else one request could carry many orders past the limit
          createContext: () => ({ orders, subscribers }),
          onError({ error, req }) {
            const ours = error.code === 'INTERNAL_SERVER_ERROR' || error.code === 'SERVICE_UNAVAILABLE'
            if (ours) req.log.error({ err: error.cause ?? error }, 'a request could not be served')
            else req.log.debug({ code: error.code }, 'a request was refused')
          },
        },
      } satisfies FastifyTRPCPluginOptions<AppRouter>)
    },
    { prefix: '/trpc' },
  )
}
