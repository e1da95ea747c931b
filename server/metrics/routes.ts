import type { FastifyInstance } from 'fastify'
import type { RateLimits } from '../http/limits.ts'
import { routeName } from '../http/server.ts'
import type { Metrics } from './metrics.ts'
import { serveWebVitals } from './web-vitals.ts'

/** Counts what the whole application answers, and closes with it. */
export function observeAnswers(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    metrics.observe({ route: routeName(request), status: reply.statusCode, ms: reply.elapsedTime })
    done()
  })
  app.addHook('onClose', () => metrics.close())
}

export function serveVitals(app: FastifyInstance, metrics: Metrics, limits: RateLimits): void {
  serveWebVitals(app, limits, metrics.observeWebVitals)
}
