import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import { Resend } from 'resend'
import { type DeliveryEvent, readEvent } from '../mail/resend.ts'
import { HttpError } from './error-answers.ts'

export interface ResendEventsOptions {
  /** As Resend shows it for this webhook: `whsec_…`; without it the address does not exist. */
  webhookSecret: string | undefined
  recordEvent(event: DeliveryEvent): Promise<void>
}

const MINUTE_MS = 60_000
/** Far more than the events of the mails that any plan sends in a minute. */
const EVENTS_A_MINUTE = 3000
const BODY_LIMIT = 64 * 1024

/** Resend's webhook: what became of the mails. */
export function serveResendEvents(app: FastifyInstance, { webhookSecret, recordEvent }: ResendEventsOptions): void {
  if (!webhookSecret) return
  const { webhooks } = new Resend('unused: signatures are checked without a key')
  app.register(async (scope) => {
    await scope.register(rateLimit, { max: EVENTS_A_MINUTE, timeWindow: MINUTE_MS })
    scope.removeAllContentTypeParsers()
    // As text, because the signature is over just what was sent.
    scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT }, (_request, body, done) =>
      done(null, body),
    )
    scope.post('/webhooks/resend', async (request) => {
      const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
        String(request.headers[`svix-${name}`] ?? ''),
      )
      if (!id || !timestamp || !signature || typeof request.body !== 'string') throw new HttpError(400)
      const event = readEvent(id, verified(request.body, { id, timestamp, signature }, webhookSecret))
      if (event) await recordEvent(event)
      return { received: true }
    })
  })

  function verified(payload: string, headers: { id: string; timestamp: string; signature: string }, secret: string) {
    try {
      return webhooks.verify({ payload, headers, webhookSecret: secret })
    } catch {
      throw new HttpError(401) // forged, or more than five minutes old
    }
  }
}
