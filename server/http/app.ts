import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, {
  type ConnectionError,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Env } from '../env.ts'
import { openDoor } from './admission.ts'
import { answerTo, errorAnswer, logFailure } from './error-answers.ts'
import { fieldsOf, ORDER_FORM, serveFormPosts } from './form-posts.ts'
import { type Health, serveHealth } from './health.ts'
import type { Metrics } from './metrics.ts'
import { serveResendEvents } from './resend-events.ts'
import { type Context, procedures, serveProcedures } from './router.ts'
import { securityHeaders } from './security.ts'
import { type Site, sendNotFound, servePages } from './site.ts'
import { serveVitals } from './vitals.ts'

/*
 * The application: requests come in, answers go out. A page: site.ts. An order: admission.ts, then router.ts,
 * or form-posts.ts for a form without scripts, then server/enquiries/orders.ts. What failures are answered
 * with: error-answers.ts. For programs: health.ts, metrics.ts, resend-events.ts, vitals.ts.
 */

export interface AppParts extends Context, Health {
  site: Site
  log: FastifyBaseLogger
  /** Counts requests and how fast pages were; without it browsers are not asked. */
  metrics?: Pick<Metrics, 'observe' | 'observeVitals'> | undefined
  /** How long a client may take; tests have no minute. */
  patience?: Patience | undefined
}

const PATIENCE = {
  headersMs: 5000,
  requestMs: 10_000,
  /** Node looks twice whether anything moves before it cuts, so that a client that reads nothing stays for twice as long. */
  standstillMs: 13_000,
}
export type Patience = typeof PATIENCE

const BODY_LIMIT = 64 * 1024
const LINGER_MS = 1000
/** Browsers and proxies send a request when the one before is answered; this is for programs that do not wait. */
const UNANSWERED_MAX = 32
/** What is asked for many times for each visitor, or by programs every few seconds: a line for each would hide the others. */
const FREQUENT = /^\/(?:assets\/\*|healthz|readyz|vitals|[\w-]+\.\w+)$/

/** The whole application, ready to listen or to be tried without a port. */
export function createApp(env: Env, parts: AppParts): FastifyInstance {
  const { log, site, metrics, leaving } = parts
  const { headersMs, requestMs, standstillMs } = parts.patience ?? PATIENCE
  const headers = securityHeaders(env)
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    clientErrorHandler: async (error, socket) => {
      await connections.settled(socket)
      answerConnection(error, socket, headers)
    },
    genReqId: () => randomUUID(),
    // A logger of its own for each request is 2 of 27 µs of processor for a page: lines name their request themselves.
    childLoggerFactory: (logger) => logger,
    trustProxy: env.TRUST_PROXY.length > 0 && env.TRUST_PROXY,
    bodyLimit: BODY_LIMIT,
    // All three are needed: Fastify's own limit alone does not cut a body that trickles in, and without it Fastify takes Node's away.
    requestTimeout: requestMs,
    http: { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: 1000 },
    keepAliveTimeout: 10_000,
    connectionTimeout: standstillMs,
    forceCloseConnections: 'idle',
    // A request on a connection that was kept open is still served while the others close, and not refused.
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply: FastifyReply) => {
      const status = error.statusCode ?? 400
      reply.code(status).headers(headers).send(errorAnswer(status))
    },
  })
  app.removeContentTypeParser('text/plain') // JSON is taken, and in form-posts.ts forms; all else is refused with 415
  const connections = watchConnections(app)

  app.addHook('onRequest', (_request, reply, done) => {
    if (leaving()) reply.raw.setHeader('connection', 'close')
    done()
  })
  // Pages carry their headers ready-made; this is for all other answers.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.headers(headers).header('cache-control', 'no-store')
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const answered = { route: routeName(request), status: reply.statusCode, ms: reply.elapsedTime }
    const line = { reqId: request.id, method: request.method, ...answered, ms: Math.round(answered.ms * 10) / 10 }
    if (FREQUENT.test(answered.route) && answered.status < 500) log.debug(line, 'request')
    else log.info(line, 'request')
    metrics?.observe(answered)
    done()
  })

  app.setErrorHandler((error, request, reply) => {
    logFailure(error, request)
    const { status, problem } = answerTo(error)
    return reply.code(status).send(errorAnswer(status, problem.message))
  })
  app.setNotFoundHandler((request, reply) => {
    const isPage = request.method === 'GET' || request.method === 'HEAD'
    if (isPage && !request.url.startsWith('/trpc')) return sendNotFound(request, reply, site)
    return reply.code(404).send(errorAnswer(404))
  })

  serveHealth(app, parts)
  app.register(async (scope) => {
    const limit = await openDoor(scope, env)
    serveProcedures(scope, parts, limit)
    serveFormPosts(scope, parts, limit)
    if (metrics) serveVitals(scope, limit, metrics.observeVitals)
    if (env.RESEND_WEBHOOK_SECRET) serveResendEvents(scope, parts, limit, env.RESEND_WEBHOOK_SECRET)
  })
  servePages(app, site)
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

/** Knows which requests of a connection still wait for their answer, and cuts a connection with too many of them. */
function watchConnections(app: FastifyInstance) {
  const unanswered = new WeakMap<Socket, Set<FastifyReply['raw']>>()

  app.addHook('onRequest', ({ raw }, reply, done) => {
    const { socket } = raw
    // A client that has gone has no address any more, and needs no answer.
    if (socket.destroyed || !socket.remoteAddress) return void reply.hijack()
    const answers = unanswered.get(socket) ?? new Set()
    if (answers.add(reply.raw).size === 1) unanswered.set(socket, answers)
    if (answers.size <= UNANSWERED_MAX) return done()
    reply.hijack()
    socket.destroy()
  })
  // A listener for each answer would cost pages a fifth of their rate.
  app.addHook('onResponse', ({ raw }, reply, done) => {
    unanswered.get(raw.socket)?.delete(reply.raw)
    done()
  })

  return {
    /** Waits until all that came whole over this connection is answered. */
    async settled(socket: Socket) {
      const whole = [...(unanswered.get(socket) ?? [])].filter(({ req }) => req.complete)
      await Promise.all(whole.map((answer) => new Promise((done) => answer.once('close', done))))
    },
  }
}

/** One of a fixed number of names, in the log and in metrics: people and programs put all kinds of things into paths. */
function routeName(request: FastifyRequest): string {
  if (fieldsOf(request).has('mobile')) return ORDER_FORM
  const { path = '' } = Object(request.params) as { path?: string }
  return procedures[path] ? path : (request.routeOptions.url ?? 'unknown')
}
