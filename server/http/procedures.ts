import rateLimit from '@fastify/rate-limit'
import { callTRPCProcedure, getTRPCErrorFromUnknown, getTRPCErrorShape } from '@trpc/server'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HttpError } from './refusals.ts'
import { appRouter } from './router.ts'
import { isForeign } from './security.ts'
import type { Context } from './trpc.ts'

export interface ApiOptions extends Context {
  publicUrl: string
  /** Orders, and subscriptions, a minute and client address; 0 for no limit. */
  rateLimitMax: number
}

interface Call {
  Params: { path: string }
  Querystring: Record<string, string>
}

const MINUTE_MS = 60_000
const SUBSCRIBE = 'subscription.subscribe'

/**
 * The tRPC mutations under `/trpc`, one a request, and what a request must be before one of them sees it. Calls them
 * without tRPC's own adapter: that wraps each request and answer in web streams, at a third of the whole cost of an
 * order, and fails on a Host header that is no host.
 */
export function serveApi(app: FastifyInstance, { orders, subscribers, publicUrl, rateLimitMax }: ApiOptions): void {
  const context: Context = { orders, subscribers }
  app.register(
    async (api) => {
      api.removeContentTypeParser('text/plain')
      await api.register(rateLimit, { global: false, max: rateLimitMax, timeWindow: MINUTE_MS })
      const submits = api.createRateLimit()
      const subscriptions = api.createRateLimit({ max: rateLimitMax, timeWindow: MINUTE_MS })

      api.addHook<Call>('onRequest', async (request, reply) => {
        if (request.method !== 'POST') {
          reply.header('allow', 'POST')
          throw new HttpError(405)
        }
        if (isForeign(request, publicUrl)) throw new HttpError(403)
        if (!isPlainJson(request)) throw new HttpError(415)
        if (rateLimitMax === 0) return
        const used = await (request.params.path === SUBSCRIBE ? subscriptions : submits)(request)
        if (used.isAllowed || !used.isExceeded) return
        reply.header('retry-after', String(used.ttlInSeconds))
        throw new HttpError(429)
      })

      api.all<Call>('/:path', async (request, reply) => {
        if ('batch' in request.query) throw new HttpError(400) // many orders in one request would get past the limit
        const call = { path: request.params.path, type: 'mutation', ctx: context, input: undefined } as const
        try {
          const data = await callTRPCProcedure({
            ...call,
            router: appRouter,
            getRawInput: async () => request.body,
            signal: undefined,
            batchIndex: 0,
          })
          return { result: { data } }
        } catch (cause) {
          const error = getTRPCErrorFromUnknown(cause)
          const shape = getTRPCErrorShape({ ...call, config: appRouter._def._config, error })
          if (shape.data.httpStatus >= 500)
            request.log.error({ err: error.cause ?? error }, 'a request could not be served')
          else request.log.debug({ code: error.code }, 'a request was refused')
          return reply.code(shape.data.httpStatus).send({ error: shape })
        }
      })
    },
    { prefix: '/trpc' },
  )
}

function isPlainJson({ headers }: FastifyRequest<Call>): boolean {
  const type = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i
  return type.test(headers['content-type'] ?? '') && (headers['content-encoding'] ?? 'identity') === 'identity'
}
