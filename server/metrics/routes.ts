import type { FastifyInstance } from 'fastify'
import { routeName } from '../http/server.ts'
import type { Metrics } from './metrics.ts'

/** Counts what the whole application answers, and closes with it. */
export function observeAnswers(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    metrics.observe({ route: routeName(request), status: reply.statusCode, ms: reply.elapsedTime })
    done()
  })
  app.addHook('onClose', () => metrics.close())
}
