import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { serveDesk } from '../desk/routes.ts'
import { RequestError } from '../errors.ts'
import { serveResendEvents } from '../mail/routes.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { serveWebVitals } from '../metrics/web-vitals.ts'
import { serveSubscriptionLinks } from '../newsletter/routes.ts'
import { serveHealth } from '../operations/health.ts'
import { BODY_LIMIT, FORM } from './bodies.ts'
import type { Context } from './context.ts'
import { logFailure, toProblem, trpcErrorBody } from './errors.ts'
import { securityHeaders } from './headers.ts'
import { registerRateLimits } from './limits.ts'
import { registerOriginCheck, registerProxyCheck } from './origin.ts'
import { isOrderForm, ORDER_FORM, serveFormPosts } from './posted-forms.ts'
import { createClientErrorHandler, hasOneHost, refuseExpectations } from './refused-connections.ts'
import { createPageSender } from './rendered-pages.ts'
import { sendNotFound, servePages } from './static-pages.ts'
import { isDeskProcedure, isVisitorProcedure, serveProcedures } from './trpc.ts'

/*
 * The Fastify application. Pages: static-pages.ts. Orders: request-source.ts and rate-limit.ts, then router.ts, or
 * form-posts.ts for a form without scripts, then orders/orders.ts. The desk: desk-routes.ts. The links of subscribers:
 * subscription-links.ts. Errors: error-answers.ts. For programs: health.ts, metrics.ts, resend-events.ts,
 * web-vitals.ts.
 */

interface HttpServerParts extends Context {
  /** Unset if METRICS_PORT is 0: then browsers send no web vitals. */
  metrics?: Pick<Metrics, 'observe' | 'observeWebVitals'> | undefined
  /** Time limits for clients; tests set shorter ones. */
  timeouts?: Timeouts | undefined
}

const TIMEOUTS = {
  headersMs: 5000,
  requestMs: 10_000,
  /** A socket without traffic is closed after once to twice this time. */
  idleSocketMs: 13_000,
}
export type Timeouts = typeof TIMEOUTS

const PROBES = ['/readyz', '/statusz']

/** Builds the application. It does not listen yet. */
export function createHttpServer(parts: HttpServerParts): FastifyInstance {
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
    logFailure(error, request)
    const { status, problem } = toProblem(error)
    return reply.code(status).send(trpcErrorBody(status, problem.message))
  })
  app.setNotFoundHandler((request, reply) => {
    const isPage = request.method === 'GET' || request.method === 'HEAD'
    if (isPage && !request.url.startsWith('/trpc')) return sendNotFound(request, reply, pages)
    return reply.code(404).send(trpcErrorBody(404))
  })
  addRoutes(app, parts)
  return app
}

function addHooks(app: FastifyInstance, headers: Record<string, string>, parts: HttpServerParts): void {
  const { log, metrics, isEnding } = parts
  app.addHook('onRequest', ({ ip, raw }, reply, done) => {
    if (isEnding()) reply.header('connection', 'close')
    // A client that has disconnected has no address, so no limit.
    done(ip && hasOneHost(raw) ? undefined : new RequestError(400))
  })
  // Built files bring their own headers; these are for all other answers.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (!reply.hasHeader('cache-control')) reply.headers(headers)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { id: reqId, method } = request
    const { statusCode: status, elapsedTime } = reply
    const route = routeName(request)
    // The log has a size limit: a client must not be able to fill it, so most requests are logged at debug level only.
    // Anybody may ask for these as often as they like: availability.ts logs an outage.
    const isImportant = status < 400 ? isStoring(route) : status >= 500 && !PROBES.includes(route)
    log[isImportant ? 'info' : 'debug'](
      { reqId, method, route, status, ms: Math.round(elapsedTime * 10) / 10 },
      'request',
    )
    metrics?.observe({ route, status, ms: elapsedTime })
    done()
  })
}

function addRoutes(app: FastifyInstance, parts: HttpServerParts): void {
  const { env, pages, metrics } = parts
  serveHealth(app, parts)
  app.register(async (scope) => {
    registerProxyCheck(scope)
    const limits = await registerRateLimits(scope, env)
    scope.register(async (forms) => {
      registerOriginCheck(forms, env)
      forms.addContentTypeParser(
        'application/json',
        { parseAs: 'string' },
        forms.getDefaultJsonParser('error', 'error'),
      )
      serveProcedures(forms, parts, limits)
      const sendPage = createPageSender(pages, env)
      serveFormPosts(forms, parts, limits, sendPage)
      forms.register((links) => serveSubscriptionLinks(links, parts, limits, sendPage))
      if (metrics) serveWebVitals(forms, limits, metrics.observeWebVitals)
    })
    scope.register((staff) => serveDesk(staff, parts, limits))
    if (env.RESEND_WEBHOOK_SECRET)
      scope.register(async (events) => {
        registerOriginCheck(events, env)
        serveResendEvents(events, parts, limits)
      })
  })
  servePages(app, pages)
}

/** Orders and subscriptions. A subscription sent without scripts has the route of its page: its line is at debug level. */
function isStoring(route: string): boolean {
  return isVisitorProcedure(route) || route === ORDER_FORM
}

/** One of a fixed number of names, for the log and metrics. A path may hold anything, personal data too. */
function routeName(request: FastifyRequest): string {
  const isForm = request.headers['content-type']?.startsWith(FORM)
  if (isForm && isOrderForm(request)) return ORDER_FORM
  const { path, name } = (request.params ?? {}) as { path?: string; name?: string }
  if (isVisitorProcedure(path)) return path
  const procedure = `desk.${name}`
  return isDeskProcedure(procedure) ? procedure : (request.routeOptions.url ?? 'unknown')
}
