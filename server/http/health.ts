import type { FastifyInstance } from 'fastify'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'

export interface Health {
  db: Db
  availability: Availability
  /** Whether the process is about to end and should get no new visitors. */
  leaving(): boolean
}

/** The answer is public and remembered for so long, so that asking costs nothing. */
const REMEMBERED_MS = 2000

/** `/healthz`: the process lives. `/readyz`: it can store orders; why not, and what mails wait, is told to staff only. */
export function serveHealth(app: FastifyInstance, health: Health): void {
  const isReady = createReadiness(health)
  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    if (health.leaving()) return reply.code(503).send({ status: 'leaving' })
    return (await isReady()) ? { status: 'ok' } : reply.code(503).send({ status: 'unavailable' })
  })
}

function createReadiness({ db, availability }: Health): () => Promise<boolean> {
  let askedAt = Number.NEGATIVE_INFINITY
  let answer: Promise<boolean> | undefined

  async function ask(): Promise<boolean> {
    try {
      await db.$queryRaw`SELECT 1`
    } catch (error) {
      availability.failed(error)
    }
    return availability.isUp()
  }

  return async () => {
    if (!answer || performance.now() - askedAt > REMEMBERED_MS) {
      askedAt = performance.now()
      answer = ask()
    }
    return (await answer) && availability.isUp()
  }
}
