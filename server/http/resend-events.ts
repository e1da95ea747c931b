import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { Webhook } from 'standardwebhooks'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { recordEvent } from '../mail/delivery.ts'
import { readEvent } from '../mail/resend.ts'
import { HttpError } from './error-answers.ts'
import type { RateLimits } from './rate-limit.ts'

const SIGNATURE = ['svix-id', 'svix-timestamp', 'svix-signature']

/** Takes the delivery events that Resend's webhook sends. */
export function serveResendEvents(
  app: FastifyInstance,
  { db, log }: { db: Db; log: FastifyBaseLogger },
  limits: RateLimits,
  { RESEND_WEBHOOK_SECRET: secret = '', STAFF_EMAILS: staff }: Pick<Env, 'RESEND_WEBHOOK_SECRET' | 'STAFF_EMAILS'>,
) {
  app.addHook('onRequest', async (request, reply) => {
    await limits.count('event', request, reply)
    if (!SIGNATURE.every((name) => request.headers[name])) throw new HttpError(400)
  })
  app.removeAllContentTypeParsers()
  // As text, because the signature covers the bytes that were sent.
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.post('/webhooks/resend', async ({ headers, body }) => {
    if (typeof body !== 'string') throw new HttpError(400)
    const [id = '', timestamp = '', signature = ''] = SIGNATURE.map((name) => String(headers[name]))
    const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
    const event = readEvent(id, verifyOrThrow(body, signed, secret))
    if (event) await recordEvent(db, log, event, staff)
    return { received: true }
  })
}

/** @throws HttpError 401 */
function verifyOrThrow(body: string, headers: Record<string, string>, secret: string): unknown {
  try {
    return new Webhook(secret).verify(body, headers)
  } catch {
    throw new HttpError(401) // forged or older than five minutes
  }
}
