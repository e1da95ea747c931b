import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { Webhook } from 'standardwebhooks'
import type { Db } from '../database/database.ts'
import { recordEvent } from '../mail/delivery.ts'
import { readEvent } from '../mail/resend.ts'
import type { Limit } from './admission.ts'
import { HttpError } from './error-answers.ts'

/** Resend's webhook: what became of the mails. `secret` is what Resend shows for it: `whsec_…`. */
export function serveResendEvents(
  app: FastifyInstance,
  { db, log }: { db: Db; log: FastifyBaseLogger },
  limit: Limit,
  secret: string,
) {
  app.register(async (scope) => {
    scope.addHook('onRequest', (request, reply) => limit('event', request, reply))
    scope.removeAllContentTypeParsers()
    // As text, because the signature is over just what was sent.
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    scope.post('/webhooks/resend', async ({ headers, body }) => {
      const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
        String(headers[`svix-${name}`] ?? ''),
      )
      if (!id || !timestamp || !signature || typeof body !== 'string') throw new HttpError(400)
      const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
      const event = readEvent(id, verified(body, signed, secret))
      if (event) await recordEvent(db, log, event)
      return { received: true }
    })
  })
}

function verified(body: string, headers: Record<string, string>, secret: string): unknown {
  try {
    return new Webhook(secret).verify(body, headers)
  } catch {
    throw new HttpError(401) // forged, or more than five minutes old
  }
}
