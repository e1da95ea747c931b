import type { FastifyInstance } from 'fastify'
import * as z from 'zod/mini'
import { pagePaths } from '../../shared/page-paths.ts'
import type { RateLimits } from '../http/limits.ts'

const VITALS_BODY_LIMIT = 512

const upTo = (most: number) => z.exactOptional(z.number().check(z.minimum(0), z.maximum(most)))
const milliseconds = upTo(600_000)

/** What a browser measured of a page. Some browsers measure only a part. */
const vitalsSchema = z.strictObject({
  page: z.enum(pagePaths as string[]),
  LCP: milliseconds,
  INP: milliseconds,
  TTFB: milliseconds,
  CLS: upTo(100),
})

export type WebVitals = z.infer<typeof vitalsSchema>

/** Takes the measurements that browsers send at the end of a visit. */
export function serveWebVitals(app: FastifyInstance, limits: RateLimits, observe: (vitals: WebVitals) => void): void {
  app.post('/vitals', {
    bodyLimit: VITALS_BODY_LIMIT,
    onRequest: (request, reply) => limits.countOrRefuse('look', request, reply),
    handler({ body }, reply) {
      observe(vitalsSchema.parse(body))
      reply.code(204).send()
    },
  })
}
