import type { FastifyInstance } from 'fastify'
import * as z from 'zod/mini'
import { pagePaths } from '../../shared/page-paths.ts'
import type { RateLimits } from './rate-limit.ts'

const BODY_LIMIT = 512

const upTo = (most: number) => z.exactOptional(z.number().check(z.minimum(0), z.maximum(most)))
const milliseconds = upTo(600_000)

/** How fast a page was in somebody's hands: what the browser can measure of it. */
const vitalsSchema = z.strictObject({
  page: z.enum(pagePaths as string[]),
  LCP: milliseconds,
  INP: milliseconds,
  TTFB: milliseconds,
  CLS: upTo(100),
})

export type WebVitals = z.infer<typeof vitalsSchema>

/** What browsers tell of pages at the end of a visit, for `observe`, who counts it. */
export function serveWebVitals(app: FastifyInstance, limits: RateLimits, observe: (vitals: WebVitals) => void): void {
  app.post('/vitals', {
    bodyLimit: BODY_LIMIT,
    onRequest: (request, reply) => limits.count('vitals', request, reply),
    handler({ body }, reply) {
      observe(vitalsSchema.parse(body))
      reply.code(204).send()
    },
  })
}
