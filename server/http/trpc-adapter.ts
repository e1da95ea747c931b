import {
  type AnyTRPCRouter,
  getTRPCErrorFromUnknown,
  getTRPCErrorShape,
  type inferRouterContext,
  TRPCError,
  transformTRPCResponse,
} from '@trpc/server'
import { getHTTPStatusCodeFromError } from '@trpc/server/http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Admission } from './admission.ts'
import { HttpError, logFailure, toTrpcError } from './error-answers.ts'
import { appRouter, type Context } from './router.ts'

type Call = FastifyRequest<{ Params: { path: string }; Querystring: Record<string, string | undefined> }>

interface TrpcAdapterOptions<Router extends AnyTRPCRouter> {
  router: Router
  /** Turns away by throwing, before the body is read, what is the call of a procedure by its method. */
  admit?(request: Call, reply: FastifyReply): Promise<void>
  createContext(request: Call): inferRouterContext<Router> | Promise<inferRouterContext<Router>>
  onError?(error: TRPCError, request: Call): void
}

const METHODS = { query: 'GET', mutation: 'POST', subscription: 'GET' } as const

/** Our procedures under `/trpc`. */
export function serveProcedures(app: FastifyInstance, { orders, subscribers }: Context, admission: Admission): void {
  const options: TrpcAdapterOptions<typeof appRouter> = {
    router: appRouter,
    async admit(request, reply) {
      admission.checkOrigin(request)
      admission.checkType(request, 'application/json')
      const isOrder = request.params.path !== 'subscription.subscribe'
      await admission.limit(isOrder ? 'order' : 'subscription', request, reply)
    },
    createContext: () => ({ orders, subscribers }),
    onError: (error, { log }) => logFailure(error, log),
  }
  app.register(async (scope) => serveTrpc(scope, options), { prefix: '/trpc' })
}

/**
 * tRPC's queries and mutations in Fastify's own terms, one call a request. tRPC's own plugin wraps each request and
 * answer in web streams, which takes a third of the orders a second and fails on a Host header that is no host. The
 * conformance test compares the answers of both.
 */
export function serveTrpc<Router extends AnyTRPCRouter>(app: FastifyInstance, options: TrpcAdapterOptions<Router>) {
  const { router, admit, createContext, onError } = options
  const config = router._def._config
  const { input: transformer } = config.transformer
  const procedureAt = (path: string) => router._def.procedures[path]

  app.removeAllContentTypeParsers()
  // As text: it is parsed where a procedure asks for it, so that what is no JSON is an error of tRPC's.
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))

  function readInput({ method, query, body }: Call): unknown {
    const text = method === 'GET' ? query.input : (body as string | undefined)
    try {
      return text ? transformer.deserialize(JSON.parse(text)) : undefined
    } catch (cause) {
      throw new TRPCError({ code: 'BAD_REQUEST', cause })
    }
  }

  function sendError(cause: unknown, request: Call, reply: FastifyReply, ctx?: inferRouterContext<Router>) {
    const error = toTrpcError(cause)
    onError?.(error, request)
    const { path } = request.params
    const type = procedureAt(path)?._def.type ?? 'unknown'
    const shape = getTRPCErrorShape({ config, error, type, path, input: undefined, ctx })
    return reply.code(getHTTPStatusCodeFromError(error)).send(transformTRPCResponse(config, { error: shape }))
  }

  app.setErrorHandler((error, request, reply) => sendError(error, request as Call, reply))

  app.addHook('onRequest', async (plainRequest, reply) => {
    const request = plainRequest as Call
    const { path } = request.params
    if (request.query.batch === '1')
      throw new HttpError(400, { message: 'One call a request: use httpLink, not httpBatchLink.' })
    const procedure = procedureAt(path)
    if (!procedure) throw new TRPCError({ code: 'NOT_FOUND', message: `No procedure found on path "${path}"` })
    const type: keyof typeof METHODS = procedure._def.type
    const method = METHODS[type]
    if (request.method === 'HEAD' && method === 'GET') return reply.code(204).send()
    if (request.method !== method) {
      reply.header('allow', method)
      throw new TRPCError({
        code: 'METHOD_NOT_SUPPORTED',
        message: `Unsupported ${request.method}-request to ${type} procedure at path "${path}"`,
      })
    }
    await admit?.(request, reply)
  })

  app.all('/:path', async (plainRequest, reply) => {
    const request = plainRequest as Call
    const { path } = request.params
    let ctx: inferRouterContext<Router> | undefined
    try {
      ctx = await createContext(request)
      const procedure = procedureAt(path) as NonNullable<ReturnType<typeof procedureAt>>
      const call = { path, type: procedure._def.type, ctx, batchIndex: 0, signal: request.signal }
      const data = await procedure({ ...call, getRawInput: async () => readInput(request) })
      return transformTRPCResponse(config, { result: { data } })
    } catch (cause) {
      return sendError(getTRPCErrorFromUnknown(cause), request, reply, ctx)
    }
  })
}
