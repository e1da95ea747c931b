import type { FastifyInstance } from 'fastify'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import { probeStorage } from '../enquiries/orders.ts'

export interface Health {
  db: Db
  availability: Availability
  /** Whether the process is about to end and should get no new visitors. */
  leaving(): boolean
}

/** The answer is public and remembered for so long, so that asking costs nothing. */
const REMEMBERED_MS = 2000

/** `/healthz`: the process lives. `/readyz`: it can store orders; why not, and what mails wait, is told to staff only. */
export function serveHealth(app: FastifyInstance, { db, availability, leaving }: Health): void {
  let askedAt = Number.NEGATIVE_INFINITY
  let asked: Promise<unknown> | undefined

  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    if (leaving()) return reply.code(503).send({ status: 'leaving' })
    if (performance.now() - askedAt > REMEMBERED_MS) {
      askedAt = performance.now()
      asked = probeStorage(db).catch(availability.failed)
    }
    await asked
    return availability.isUp() ? { status: 'ok' } : reply.code(503).send({ status: 'unavailable' })
  })
}
