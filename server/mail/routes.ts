import { timingSafeEqual } from 'node:crypto'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { Webhook } from 'standardwebhooks'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { takeTexts } from '../http/bodies.ts'
import { RequestError } from '../http/errors.ts'
import type { RateLimits } from '../http/limits.ts'
import { readEvent, recordEvent } from './delivery.ts'

const WARN_MS = 3_600_000
const SIGNATURE = ['svix-id', 'svix-timestamp', 'svix-signature']

/** Takes the delivery events that Resend's webhook sends. Those of other mails of the account are answered and forgotten. */
export function serveResendEvents(
  app: FastifyInstance,
  { db, log, env }: { db: Db; log: FastifyBaseLogger; env: Env },
  limits: RateLimits,
): void {
  const { RESEND_WEBHOOK_SECRET: secret = '' } = env
  const warnedAt = { signature: Number.NEGATIVE_INFINITY, clock: Number.NEGATIVE_INFINITY }

  /** Without it, bounces would go unseen. Strangers send forged events, so each once an hour. */
  function warn(what: keyof typeof warnedAt, message: string) {
    if (performance.now() - warnedAt[what] < WARN_MS) return
    warnedAt[what] = performance.now()
    log.warn(`an event at /webhooks/resend ${message}`)
  }

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
      const at = new Date(Number(timestamp) * 1000)
      if (isSignedAs(signature, new Webhook(secret).sign(id, at, body)))
        warn('clock', `is refused because its time is ${describeOffset(at)} this machine's clock: is that clock right?`)
      else warn('signature', 'has a wrong signature: if Resend sent it, correct RESEND_WEBHOOK_SECRET')
      throw new RequestError(401)
    }
    const event = readEvent(verified)
    if (event) await recordEvent(db, log, event)
    return { received: true }
  })
}

function describeOffset(at: Date): string {
  const minutes = Math.round((at.getTime() - Date.now()) / 60_000)
  return `${Math.abs(minutes)} minutes ${minutes < 0 ? 'before' : 'after'}`
}

/** Undefined for an event that is forged, or more than five minutes old or ahead. */
function verify(body: string, headers: Record<string, string>, secret: string): unknown {
  try {
    return new Webhook(secret).verify(body, headers)
  } catch {
    return undefined
  }
}

/** In constant time for each signature of the header. */
function isSignedAs(header: string, expected: string): boolean {
  const bytes = Buffer.from(expected)
  return header.split(' ').some((each) => each.length === expected.length && timingSafeEqual(Buffer.from(each), bytes))
}
