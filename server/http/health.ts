import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Availability } from '../enquiries/availability.ts'

export interface Health {
  availability: Availability
  /** Whether the process is ending: a proxy should send no new visitors. */
  isEnding(): boolean
}

/** Anybody may ask `/readyz`: its probe is used again for this time, so that requests cost nothing. */
const CACHE_MS = 2000

/**
 * `/healthz`: the process takes requests. `/readyz`: it can store orders. The reason of a failure is in the log only.
 */
export function serveHealth(app: FastifyInstance, { availability, isEnding }: Health): void {
  let probedAt = Number.NEGATIVE_INFINITY
  let probe: Promise<unknown> | undefined

  const answer = (reply: FastifyReply, status: 'ok' | 'leaving' | 'unavailable') =>
    reply.code(status === 'ok' ? 200 : 503).send({ status })
  app.get('/healthz', (_request, reply) => answer(reply, isEnding() ? 'leaving' : 'ok'))
  app.get('/readyz', async (_request, reply) => {
    if (isEnding()) return answer(reply, 'leaving')
    if (performance.now() - probedAt > CACHE_MS) {
      probedAt = performance.now()
      probe = availability.check()
    }
    await probe
    return answer(reply, availability.isUp() ? 'ok' : 'unavailable')
  })
}
