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
import { developerMessages, toTrpcError } from './error-answers.ts'

export type Call = FastifyRequest<{ Params: { path: string }; Querystring: Record<string, string | undefined> }>

export interface TrpcAdapterOptions<Router extends AnyTRPCRouter> {
  router: Router
  createContext(request: Call, reply: FastifyReply): inferRouterContext<Router> | Promise<inferRouterContext<Router>>
  onError?(error: TRPCError, request: Call): void
}

const METHODS = { query: 'GET', mutation: 'POST', subscription: 'GET' } as const

/** The method that a procedure is called by; undefined for a path that is none. */
export function methodOf(router: AnyTRPCRouter, path: string): string | undefined {
  const procedure = router._def.procedures[path]
  return procedure && METHODS[procedure._def.type as keyof typeof METHODS]
}

/**
 * tRPC's queries and mutations in Fastify's own terms, one call a request. tRPC's own plugin wraps each request and
 * answer in web streams, which takes a third of the orders a second and fails on a Host header that is no host. The
 * conformance test compares the answers of both.
 */
export function serveTrpc<Router extends AnyTRPCRouter>(app: FastifyInstance, options: TrpcAdapterOptions<Router>) {
  const { router, createContext, onError } = options
  const config = router._def._config
  const { input: transformer } = config.transformer

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
    const type = router._def.procedures[path]?._def.type ?? 'unknown'
    const shape = getTRPCErrorShape({ config, error, type, path, input: undefined, ctx })
    return reply.code(getHTTPStatusCodeFromError(error)).send(transformTRPCResponse(config, { error: shape }))
  }

  app.setErrorHandler((error, request, reply) => sendError(error, request as Call, reply))

  app.all('/:path', async (plainRequest, reply) => {
    if (plainRequest.method === 'HEAD') return reply.code(204).send()
    const request = plainRequest as Call
    const { path } = request.params
    let ctx: inferRouterContext<Router> | undefined
    try {
      if (request.query.batch === '1') throw new TRPCError({ code: 'BAD_REQUEST', message: developerMessages.batch })
      ctx = await createContext(request, reply)
      const procedure = router._def.procedures[path]
      const method = methodOf(router, path)
      if (!procedure || !method)
        throw new TRPCError({ code: 'NOT_FOUND', message: `No procedure found on path "${path}"` })
      if (request.method !== method) {
        reply.header('allow', method)
        throw new TRPCError({
          code: 'METHOD_NOT_SUPPORTED',
          message: `Unsupported ${request.method}-request to ${procedure._def.type} procedure at path "${path}"`,
        })
      }
      const call = { path, type: procedure._def.type, ctx, batchIndex: 0, signal: request.signal }
      const data = await procedure({ ...call, getRawInput: async () => readInput(request) })
      return transformTRPCResponse(config, { result: { data } })
    } catch (cause) {
      return sendError(getTRPCErrorFromUnknown(cause), request, reply, ctx)
    }
  })
}
