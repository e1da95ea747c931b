import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from './error-answers.ts'
import { isForeign } from './security.ts'

export interface AdmissionOptions {
  /** The address visitors use: requests from other sites are turned away. */
  publicUrl: string
  /** Orders, and subscriptions, a minute and client address; 0 for no limit. */
  rateLimitMax: number
}

/** What a request that stores something must be, whichever way it comes. */
export interface Admission {
  /** @throws HttpError 403 */
  checkOrigin(request: FastifyRequest): void
  /** @throws HttpError 415 */
  checkType(request: FastifyRequest, type: 'application/json' | 'application/x-www-form-urlencoded'): void
  /** @throws HttpError 429, after which `retry-after` is set */
  count(kind: 'order' | 'subscription', request: FastifyRequest, reply: FastifyReply): Promise<void>
}

const MINUTE_MS = 60_000
/** So many times more than are taken is no crowd behind one address. */
const FLOOD = 10

export async function createAdmission(app: FastifyInstance, options: AdmissionOptions): Promise<Admission> {
  const { publicUrl, rateLimitMax } = options
  await app.register(rateLimit, { global: false, max: rateLimitMax, ban: FLOOD * rateLimitMax, timeWindow: MINUTE_MS })
  const limits = { order: app.createRateLimit(), subscription: app.createRateLimit() }
  return {
    checkOrigin(request) {
      if (isForeign(request, publicUrl)) throw new HttpError(403)
    },
    checkType({ headers }, type) {
      const [sent = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
      const isUtf8 = parameters.every((parameter) => /^(charset="?utf-8"?)?$/.test(parameter.trim()))
      const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity'
      if (sent.trim() !== type || !isUtf8 || !isPlain) throw new HttpError(415)
    },
    async count(kind, request, reply) {
      if (rateLimitMax === 0) return
      const used = await limits[kind](request)
      if (used.isAllowed || !used.isExceeded) return
      reply.header('retry-after', String(used.ttlInSeconds))
      throw new HttpError(429, used.isBanned)
    },
  }
}
