import { type AnyRouter, callTRPCProcedure } from '@trpc/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RequestError } from './errors.ts'
import type { RateLimits } from './limits.ts'

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
export async function callProcedure(router: AnyRouter, path: string, body: unknown, ctx: object = {}) {
  return callTRPCProcedure({
    router,
    path,
    type: 'mutation',
    allowMethodOverride: true, // queries too
    ctx,
    batchIndex: 0,
    signal: undefined, // docs/decisions/0005
    getRawInput: async () => body,
  })
}

/** Takes JSON, and no other bodies. */
export function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, app.getDefaultJsonParser('error', 'error'))
}

/** Serves a procedure for visitors. Errors are answered by the application, in the shape that tRPC's client reads. */
export function serveProcedure(
  app: FastifyInstance,
  { router, path, limit }: { router: AnyRouter; path: string; limit: 'order' | 'mailToStranger' },
  limits: RateLimits,
): void {
  app.all<{ Querystring: { batch?: string } }>(`/trpc/${path}`, {
    config: { name: path, isStoring: true },
    async onRequest(request, reply) {
      if (request.query.batch === '1')
        throw new RequestError(400, 'One call a request: use httpLink, not httpBatchLink.')
      assertPost(request, reply)
      await limits.countOrRefuse(limit, request, reply)
    },
    async handler(request, reply) {
      const call = () => callProcedure(router, path, request.body)
      return { result: { data: await limits.countIfSuccessful(limit, request, reply, call) } }
    },
  })
}
