import type { FastifyInstance } from 'fastify'
import { type Vitals, vitalsSchema } from '../../shared/vitals.ts'
import type { Admission } from './admission.ts'
import { HttpError } from './error-answers.ts'

const BODY_LIMIT = 512

/** What browsers tell of pages at the end of a visit. Without `observe`, who counts it, the address does not exist. */
export function serveVitals(app: FastifyInstance, admission: Admission, observe?: (vitals: Vitals) => void): void {
  if (!observe) return
  app.post('/vitals', {
    bodyLimit: BODY_LIMIT,
    async onRequest(request, reply) {
      admission.checkOrigin(request)
      admission.checkType(request, 'application/json')
      await admission.limit('vitals', request, reply)
    },
    handler({ body }, reply) {
      const told = vitalsSchema.safeParse(body)
      if (!told.success) throw new HttpError(400)
      observe(told.data)
      reply.code(204).send()
    },
  })
}
