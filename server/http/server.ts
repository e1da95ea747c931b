import { randomUUID } from 'node:crypto'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Env } from '../env.ts'
import { BODY_LIMIT, limitChunks } from './bodies.ts'
import { answerTo, RequestError, trpcErrorBody } from './errors.ts'
import { securityHeaders } from './headers.ts'
import { createClientErrorHandler, hasOneHost, refuseExpectations } from './refused-connections.ts'
import { type StaticPages, sendNotFound } from './static-pages.ts'

/* What every request passes. The rooms add their routes (app.ts). */

const TIMEOUTS = {
  headersMs: 5000,
  requestMs: 10_000,
  /** A socket without traffic is closed after once to twice this time. */
  idleSocketMs: 13_000,
}
export type Timeouts = typeof TIMEOUTS

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of the route, in the log and in metrics; without it its path. */
    name?: string
    /** Success is worth a line in the log. */
    isStoring?: boolean
    /** Anybody may ask as often as they like: an outage is logged elsewhere. */
    isProbe?: boolean
  }
  interface FastifyRequest {
    /** The name of a route that serves two forms. */
    formName?: string
  }
}

export interface HttpParts {
  env: Env
  log: FastifyBaseLogger
  pages: StaticPages
  /** Whether the process is ending: a proxy should send no new visitors. */
  isEnding(): boolean
  /** Time limits for clients; tests set shorter ones. */
  timeouts?: Timeouts | undefined
}

/** Builds the server without routes. It does not listen yet. */
export function createHttpServer(parts: HttpParts): FastifyInstance {
  const { env, log, pages } = parts
  const { headersMs, requestMs, idleSocketMs } = parts.timeouts ?? TIMEOUTS
  const headers = { ...securityHeaders(env), 'cache-control': 'no-store' }
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    // No child logger for each request: log lines name their request themselves.
    childLoggerFactory: (logger) => logger,
    trustProxy: env.TRUST_PROXY.length > 0 && env.TRUST_PROXY,
    bodyLimit: BODY_LIMIT,
    // Both are needed: Node's below ends a slow body, and Fastify sets that one to 0 unless its own is given.
    requestTimeout: requestMs,
    http: {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: 1000,
      requireHostHeader: false, // the first hook below asks for it
    },
    keepAliveTimeout: 10_000,
    connectionTimeout: idleSocketMs,
    forceCloseConnections: 'idle',
    // While the server closes, requests on open connections are still served.
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply: FastifyReply) => {
      const status = error.statusCode ?? 400
      reply.code(status).headers(headers).send(trpcErrorBody(status))
    },
    clientErrorHandler: createClientErrorHandler(headers),
  })
  refuseExpectations(app.server, headers)
  app.removeAllContentTypeParsers() // each route has its own; a body that is sent elsewhere is not read
  addHooks(app, headers, parts)
  app.setErrorHandler((error, request, reply) => {
    const { status, problem } = answerTo(error, request)
    return reply.code(status).send(trpcErrorBody(status, problem.message))
  })
  app.setNotFoundHandler((request, reply) => {
    const isPage = request.method === 'GET' || request.method === 'HEAD'
    if (isPage && !request.url.startsWith('/trpc')) return sendNotFound(request, reply, pages)
    return reply.code(404).send(trpcErrorBody(404))
  })
  return app
}

function addHooks(app: FastifyInstance, headers: Record<string, string>, { log, isEnding }: HttpParts): void {
  app.addHook('onRequest', ({ ip, raw }, reply, done) => {
    if (isEnding()) reply.header('connection', 'close')
    // A client that has disconnected has no address, so no limit.
    done(ip && hasOneHost(raw) ? undefined : new RequestError(400))
  })
  app.addHook('preParsing', ({ headers: { 'transfer-encoding': encoding } }, _reply, payload, done) => {
    if (encoding !== undefined) limitChunks(payload)
    done()
  })
  // Built files bring their own headers; these are for all other answers.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (!reply.hasHeader('cache-control')) reply.headers(headers)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { id: reqId, method } = request
    const { statusCode: status, elapsedTime } = reply
    const { isStoring, isProbe } = request.routeOptions.config
    // The log has a size limit: a client must not be able to fill it, so most requests are logged at debug level only.
    const isImportant = status < 400 ? isStoring || request.formName : status >= 500 && !isProbe
    const route = routeName(request)
    log[isImportant ? 'info' : 'debug'](
      { reqId, method, route, status, ms: Math.round(elapsedTime * 10) / 10 },
      'request',
    )
    done()
  })
}

/** One of a fixed number of names. A path may hold anything, personal data too. */
export function routeName({ formName, routeOptions: { config, url } }: FastifyRequest): string {
  return formName ?? config.name ?? url ?? 'unknown'
}
