import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RequestError } from '../errors.ts'

/** The largest body of one request. A form with every field at its longest has 4 kB. */
export const BODY_LIMIT = 16 * 1024

/** The type of a form as browsers post it. */
export const FORM = 'application/x-www-form-urlencoded'

/** A form with more fields is refused, because parsing thousands of them would take milliseconds. Our forms have fewer. */
const FIELDS_MAX = 50

/** Refuses requests of `app` while the bodies of unanswered ones could exceed `bytes`. */
export function limitBodies(app: FastifyInstance, bytes: number): void {
  let reserved = 0
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    const limit = request.routeOptions.bodyLimit ?? BODY_LIMIT
    const size = Number(length ?? (encoding ? limit : 0))
    if (size > limit) return done() // Fastify refuses it with 413 before it is read
    if (reserved + size > bytes) return done(new RequestError(503))
    reserved += size
    reply.raw.once('close', () => {
      reserved -= size
    })
    done()
  })
}

/** Takes forms as browsers post them without scripts, and no other bodies. */
export function takeForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(FORM, { parseAs: 'string' }, (_request, body, done) => {
    const isOurs = String(body).split('&', FIELDS_MAX + 1).length <= FIELDS_MAX
    if (isOurs) done(null, new URLSearchParams(String(body)))
    else done(new RequestError(413))
  })
}

/** The fields of such a form; none for any other request. */
export function fieldsOf({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams()
}

/** Takes bodies of any type as text. */
export function takeTexts(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
}
