import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, {
  type ConnectionError,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { type AdmissionOptions, createAdmission } from './admission.ts'
import { watchConnections } from './connections.ts'
import { errorAnswer } from './error-answers.ts'
import { serveFormPosts } from './form-posts.ts'
import { type Health, serveHealth } from './health.ts'
import { serveProcedures } from './procedures.ts'
import { createProxyWatch } from './proxy-watch.ts'
import { type ResendEventsOptions, serveResendEvents } from './resend-events.ts'
import { isFrequent, routeName } from './route-name.ts'
import { type SecurityOptions, securityHeaders } from './security.ts'
import { type Site, sendNotFound, servePages } from './site.ts'
import type { Context } from './trpc.ts'

export interface AppOptions extends AdmissionOptions, Context, SecurityOptions, ResendEventsOptions, Health {
  site: Site
  logger: FastifyBaseLogger
  /** Addresses and ranges of proxies whose X-Forwarded-For is believed. */
  trustProxy: string[]
  /** Told of each request that was answered. */
  observe?: ((request: FastifyRequest, reply: FastifyReply) => void) | undefined
}

const BODY_LIMIT = 64 * 1024
const REQUEST_TIMEOUT_MS = 10_000
const LINGER_MS = 1000
/** Node looks twice whether anything moves before it cuts, so that a client that reads nothing stays for twice as long. */
const STANDSTILL_MS = 13_000

/** The whole application, ready to listen or to be tried without a port. */
export function createApp(options: AppOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    clientErrorHandler: (error, socket) =>
      connections.whenAnswered(socket, () => answerConnection(error, socket, headers)),
    genReqId: createRequestIds(),
    // A logger of its own for each request is 2 of 27 µs of processor for a page: lines name their request themselves.
    childLoggerFactory: (logger) => logger,
    trustProxy: options.trustProxy.length > 0 ? options.trustProxy : false,
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: 100, ignoreDuplicateSlashes: false },
    // All three are needed: Fastify's own limit alone does not cut a body that trickles in, and without it Fastify takes Node's away.
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: 5000, requestTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: 1000 },
    keepAliveTimeout: 10_000,
    connectionTimeout: STANDSTILL_MS,
    forceCloseConnections: 'idle',
    // A request on a connection that was kept open is still served while the others close, and not refused.
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply: FastifyReply) => {
      const status = error.statusCode ?? 400
      reply.code(status).headers(headers).send(errorAnswer(status))
    },
  })
  const headers = securityHeaders(options)
  const connections = watchConnections(app)

  const watchProxy = createProxyWatch(options.logger)
  app.addHook('onRequest', (request, reply, done) => {
    watchProxy(request)
    if (options.leaving()) reply.raw.setHeader('connection', 'close')
    done()
  })
  // Pages carry their headers ready-made; this is for all other answers.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.headers(headers).header('cache-control', 'no-store')
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const ms = Math.round(reply.elapsedTime * 10) / 10
    const details = {
      reqId: request.id,
      method: request.method,
      route: routeName(request),
      status: reply.statusCode,
      ms,
    }
    if (isFrequent(request) && reply.statusCode < 500) request.log.debug(details, 'request')
    else request.log.info(details, 'request')
    options.observe?.(request, reply)
    done()
  })

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const status = error.statusCode && error.statusCode >= 400 ? error.statusCode : 500
    if (status >= 500) request.log.error({ reqId: request.id, err: error }, 'a request could not be served')
    return reply.code(status).send(errorAnswer(status))
  })
  app.setNotFoundHandler((request, reply) => {
    const isPage = request.method === 'GET' || request.method === 'HEAD'
    if (isPage && !request.url.startsWith('/trpc')) return sendNotFound(request, reply, options.site)
    return reply.code(404).send(errorAnswer(404))
  })

  serveHealth(app, options)
  serveResendEvents(app, options)
  app.register(async (scope) => {
    const admission = await createAdmission(scope, options)
    serveProcedures(scope, options, admission)
    serveFormPosts(scope, options, admission)
  })
  servePages(app, options.site)
  return app
}

/** Answers what is not yet a request: headers that are too long, too slow or no HTTP. */
function answerConnection(error: ConnectionError, socket: Socket, headers: Record<string, string>) {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code] ?? 400
  const body = JSON.stringify(errorAnswer(status))
  const fields = {
    connection: 'close',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...headers,
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  // A client that never closes its end would keep the connection; one that does gets the time to read the answer.
  setTimeout(() => socket.destroy(), LINGER_MS)
}

/** Unique among all processes, at the cost of one random number a process. */
function createRequestIds(): () => string {
  const prefix = randomUUID().slice(0, 13)
  let count = 0
  return () => `${prefix}-${++count}`
}
