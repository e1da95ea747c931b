import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest, RequestPayload } from 'fastify'
import { RequestError } from './errors.ts'

/*
 * Memory is bounded by the limit of each route and by Node's time limits: a body that does not come whole within ten seconds
 * ends its connection. No request reserves room that another one would lack.
 */

/** The largest body of one request. A form with every field at its longest has 4 kB. */
export const BODY_LIMIT = 16 * 1024
/** Of a link's button, sign-in and sign-out: an address, a token or a word. */
export const LINK_BODY_LIMIT = 1024

/** The type of a form as browsers post it. */
export const FORM = 'application/x-www-form-urlencoded'

/** A form with more fields is refused, because parsing thousands of them would take milliseconds. Our forms have fewer. */
const FIELDS_MAX = 50

/** A body of BODY_LIMIT comes in a few. In chunks of a byte it would take 250 times its size in memory. */
const CHUNKS_MAX = 64

/** Ends the connection of a body without a length that comes in too many pieces. */
export function limitChunks(body: RequestPayload): void {
  let chunks = 0
  body.on('data', () => {
    if (++chunks > CHUNKS_MAX) (body as Readable).destroy(new RequestError(413))
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
export function postedFields({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams()
}

/** Takes bodies of any type as text. */
export function takeTexts(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
}
