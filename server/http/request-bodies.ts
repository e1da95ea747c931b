import type { FastifyInstance } from 'fastify'
import { HttpError } from './error-answers.ts'

/** The largest body of one request. A form with every field at its longest has 4 kB. */
export const BODY_LIMIT = 16 * 1024

/** Refuses requests of `app` while the bodies of unanswered ones could exceed `bytes`. */
export function limitBodies(app: FastifyInstance, bytes: number): void {
  let reserved = 0
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    const limit = request.routeOptions.bodyLimit ?? BODY_LIMIT
    const size = Number(length ?? (encoding ? limit : 0))
    if (size > limit) return done() // refused with 413 before it is read
    if (reserved + size > bytes) return done(new HttpError(503))
    reserved += size
    reply.raw.once('close', () => {
      reserved -= size
    })
    done()
  })
}
