import type { FastifyInstance } from 'fastify'
import type { Db } from '../database/database.ts'
import type { Availability } from '../enquiries/availability.ts'
import type { Env } from '../env.ts'
import { readProblems } from '../mail/problems.ts'

/** Anybody may ask: the problems are used again for this time, so that requests cost nothing. */
const CACHE_MS = 10_000
const NOT_STORED = 'Orders cannot be stored.'

/** `/statusz`, for monitors: what somebody has to mend, in sentences without personal data. */
export function serveStatus(
  app: FastifyInstance,
  { db, availability, env }: { db: Db; availability: Availability; env: Env },
): void {
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<string[]> = Promise.resolve([])

  async function read(): Promise<string[]> {
    await availability.check()
    if (!availability.isUp()) return [NOT_STORED]
    return readProblems(db, env, { siteSeconds: process.uptime() })
  }

  app.get('/statusz', async (_request, reply) => {
    if (performance.now() - readAt > CACHE_MS) {
      readAt = performance.now()
      reading = read().catch(() => [NOT_STORED])
    }
    const problems = await reading
    if (problems.length === 0) return { status: 'ok' }
    return reply.code(503).send({ problems })
  })
}
