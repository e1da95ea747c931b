import type { FastifyInstance, FastifyReply } from 'fastify'

/** Anybody may ask these addresses: what was found is used again for this time, so that requests cost nothing. */
const READY_CACHE_MS = 2000
const PROBLEMS_CACHE_MS = 10_000
const NOT_STORED = 'Orders cannot be stored'
const NOT_READ = 'What else is wrong could not be read from the database. Orders can be stored.'

interface HealthParts {
  readProblems(): Promise<string[]>
  /** Whether orders can be stored; `check` tries it where it is not known. */
  availability: { isUp(): boolean; check(): Promise<void>; withReason(said: string): string }
  isEnding(): boolean
}

/**
 * `/healthz`: the process takes requests. `/readyz`, for balancers: it can store orders; the reason of a failure is in the log
 * only. `/statusz`, for monitors: what somebody has to mend, in sentences without personal data.
 */
export function serveHealth(app: FastifyInstance, { readProblems, availability, isEnding }: HealthParts): void {
  const probe = cached(READY_CACHE_MS, availability.check)
  const findProblems = cached(PROBLEMS_CACHE_MS, async () => {
    await availability.check()
    if (!availability.isUp()) return [`${availability.withReason(NOT_STORED)}.`]
    return readProblems().catch(() => [NOT_READ])
  })

  const answer = (reply: FastifyReply, status: 'ok' | 'leaving' | 'unavailable') =>
    reply.code(status === 'ok' ? 200 : 503).send({ status })
  app.get('/healthz', (_request, reply) => answer(reply, isEnding() ? 'leaving' : 'ok'))
  const config = { isProbe: true }
  app.get('/readyz', { config }, async (_request, reply) => {
    if (isEnding()) return answer(reply, 'leaving')
    await probe()
    return answer(reply, availability.isUp() ? 'ok' : 'unavailable')
  })
  app.get('/statusz', { config }, async (_request, reply) => {
    const problems = await findProblems()
    return problems.length === 0 ? { status: 'ok' } : reply.code(503).send({ problems })
  })
}

function cached<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let readAt = Number.NEGATIVE_INFINITY
  let result: Promise<T>
  return () => {
    if (performance.now() - readAt > ms) {
      readAt = performance.now()
      result = read()
    }
    return result
  }
}
