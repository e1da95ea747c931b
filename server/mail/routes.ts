import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { Webhook } from 'standardwebhooks'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { takeTexts } from '../http/bodies.ts'
import { RequestError } from '../http/errors.ts'
import type { RateLimits } from '../http/limits.ts'
import { readEvent, recordEvent } from './delivery.ts'

const WARN_MS = 3_600_000
const REFUSED =
  "an event at /webhooks/resend is refused: if Resend sent it, correct RESEND_WEBHOOK_SECRET or this machine's clock"
const SIGNATURE = ['svix-id', 'svix-timestamp', 'svix-signature']

/** Takes the delivery events that Resend's webhook sends. Those of other mails of the account are answered and forgotten. */
export function serveResendEvents(
  app: FastifyInstance,
  { db, log, env }: { db: Db; log: FastifyBaseLogger; env: Env },
  limits: RateLimits,
): void {
  const { RESEND_WEBHOOK_SECRET: secret = '' } = env
  let nextWarnAt = 0

  app.addHook('onRequest', async (request, reply) => {
    await limits.countOrRefuse('service', request, reply)
    if (!SIGNATURE.every((name) => request.headers[name])) throw new RequestError(400)
  })
  takeTexts(app) // because the signature covers the bytes that were sent
  app.post('/webhooks/resend', async ({ headers, body }) => {
    if (typeof body !== 'string') throw new RequestError(400)
    const [id = '', timestamp = '', signature = ''] = SIGNATURE.map((name) => String(headers[name]))
    const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
    const verified = verify(body, signed, secret)
    if (!verified) {
      // Otherwise bounces would go unseen. Strangers send forged events, so once an hour.
      if (performance.now() >= nextWarnAt) {
        nextWarnAt = performance.now() + WARN_MS
        log.warn(REFUSED)
      }
      throw new RequestError(401)
    }
    const event = readEvent(verified)
    if (event) await recordEvent(db, log, event)
    return { received: true }
  })
}

/** Undefined for an event that is forged, or more than five minutes old or ahead. */
function verify(body: string, headers: Record<string, string>, secret: string): unknown {
  try {
    return new Webhook(secret).verify(body, headers)
  } catch {
    return undefined
  }
}
