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
import { answerTo, errorAnswer, HttpError, logFailure } from './error-answers.ts'
import { fieldsOf, ORDER_FORM, serveFormPosts } from './form-posts.ts'
import { type Health, serveHealth } from './health.ts'
import type { Metrics } from './metrics.ts'
import { BODY_LIMIT, limitBodies, registerRateLimits } from './rate-limit.ts'
import { registerSourceChecks } from './request-source.ts'
import { serveResendEvents } from './resend-events.ts'
import { type Context, isProcedure, serveProcedures } from './router.ts'
import { securityHeaders } from './security.ts'
import { type StaticPages, sendNotFound, servePages } from './static-pages.ts'
import { serveWebVitals } from './web-vitals.ts'

/*
 * The application: requests come in, answers go out. A page: static-pages.ts. An order: request-source.ts and
 * rate-limit.ts, then router.ts, or form-posts.ts for a form without scripts, then server/enquiries/orders.ts. What
 * failures are answered with: error-answers.ts. For programs: health.ts, metrics.ts, resend-events.ts, vitals.ts.
 */

export interface AppParts extends Omit<Context, 'acknowledge'>, Health {
  pages: StaticPages
  log: FastifyBaseLogger
  /** Counts requests and how fast pages were; without it browsers are not asked. */
  metrics?: Pick<Metrics, 'observe' | 'observeWebVitals'> | undefined
  /** How long a client may take; tests have no minute. */
  timeouts?: Timeouts | undefined
}

const TIMEOUTS = {
  headersMs: 5000,
  requestMs: 10_000,
  /** Node looks twice whether anything moves before it cuts, so that a client that reads nothing stays for twice as long. */
  standstillMs: 13_000,
}
export type Timeouts = typeof TIMEOUTS

/** Of all requests that are not answered yet. Resend's events have room of their own: a flood of them stops no order. */
const BODIES_BYTES = { forms: 8 * 1024 * 1024, events: 2 * 1024 * 1024 }
const LINGER_MS = 1000
/** Browsers and proxies send a request when the one before is answered; this is for programs that do not wait. */
const UNANSWERED_MAX = 32
/** The whole application, ready to listen or to be tried without a port. */
export function createApp(env: Env, parts: AppParts): FastifyInstance {
  const { log, pages, metrics, leaving } = parts
  const { headersMs, requestMs, standstillMs } = parts.timeouts ?? TIMEOUTS
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
    http: {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: 1000,
      requireHostHeader: false, // Node's own answer lacks our headers
    },
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

  app.server.on('checkExpectation', (_request, answer) => {
    answer.writeHead(417, { ...headers, 'content-type': 'application/json', 'cache-control': 'no-store' })
    answer.end(JSON.stringify(errorAnswer(417)))
  })
  app.addHook('onRequest', ({ raw }, reply, done) => {
    if (leaving()) reply.raw.setHeader('connection', 'close')
    const lacksHost = raw.headers.host === undefined && raw.httpVersion === '1.1'
    done(lacksHost ? new HttpError(400) : undefined)
  })
  // Pages carry their headers ready-made; this is for all other answers.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.headers(headers).header('cache-control', 'no-store')
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const answered = { route: routeName(request), status: reply.statusCode, ms: reply.elapsedTime }
    const line = { reqId: request.id, method: request.method, ...answered, ms: Math.round(answered.ms * 10) / 10 }
    // Whoever can have a line written without limit can have the others thrown away: the log keeps so many bytes.
    const isKept = answered.status >= 500 || (answered.status < 400 && isStoring(answered.route))
    log[isKept ? 'info' : 'debug'](line, 'request')
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
    if (isPage && !request.url.startsWith('/trpc')) return sendNotFound(request, reply, pages)
    return reply.code(404).send(errorAnswer(404))
  })

  serveHealth(app, parts)
  app.register(async (scope) => {
    registerSourceChecks(scope, env)
    const limits = await registerRateLimits(scope, env)
    scope.register(async (forms) => {
      limitBodies(forms, BODIES_BYTES.forms)
      serveProcedures(forms, parts, limits)
      serveFormPosts(forms, parts, limits)
      if (metrics) serveWebVitals(forms, limits, metrics.observeWebVitals)
    })
    if (env.RESEND_WEBHOOK_SECRET)
      scope.register(async (events) => {
        limitBodies(events, BODIES_BYTES.events)
        serveResendEvents(events, parts, limits, env)
      })
  })
  servePages(app, pages)
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

function isStoring(route: string): boolean {
  return isProcedure(route) || route === ORDER_FORM
}

/** One of a fixed number of names, in the log and in metrics: people and programs put all kinds of things into paths. */
function routeName(request: FastifyRequest): string {
  if (fieldsOf(request).has('mobile')) return ORDER_FORM
  const { path } = Object(request.params) as { path?: string }
  return isProcedure(path) ? path : (request.routeOptions.url ?? 'unknown')
}
