import rateLimit from '@fastify/rate-limit'
import { TRPCError } from '@trpc/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { messages } from '../../shared/order.ts'
import { HttpError } from './error-answers.ts'
import { isForeign } from './security.ts'

export interface AdmissionOptions {
  /** The address visitors use: requests from other sites are turned away. */
  publicUrl: string
  /** Orders a minute and client address; 0 for no limit, also on subscriptions. */
  rateLimitMax: number
}

/** What a request that stores something must be, whichever way it comes. */
export interface Admission {
  /** @throws HttpError 403 */
  checkOrigin(request: FastifyRequest): void
  /** @throws HttpError 415 */
  checkType(request: FastifyRequest, type: 'application/json' | 'application/x-www-form-urlencoded'): void
  /** @throws HttpError or TRPCError 429, after which `retry-after` is set */
  count(kind: 'order' | 'subscription', request: FastifyRequest, reply: FastifyReply): Promise<void>
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const SUBSCRIPTIONS_A_DAY = 3
/** One client by IPv6 is a /64, and one customer of a provider may have a /48 of 65,536 of them. */
const NETWORK = { ipv6Subnet: 48, clients: 5 }
/** So many times more than are taken is no crowd behind one address. */
const FLOOD = 10

export async function createAdmission(app: FastifyInstance, options: AdmissionOptions): Promise<Admission> {
  const { publicUrl, rateLimitMax } = options
  await app.register(rateLimit, { global: false })
  const limitsOf = (max: number, timeWindow: number) => [
    app.createRateLimit({ max, ban: FLOOD * max, timeWindow }),
    app.createRateLimit({ max: max * NETWORK.clients, timeWindow, ipv6Subnet: NETWORK.ipv6Subnet }),
  ]
  const limits = {
    order: limitsOf(rateLimitMax, MINUTE_MS),
    subscription: limitsOf(SUBSCRIPTIONS_A_DAY, DAY_MS),
  }
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
      for (const limit of limits[kind]) {
        const used = await limit(request)
        if (used.isAllowed || !used.isExceeded) continue
        reply.header('retry-after', String(used.ttlInSeconds))
        if (kind === 'order' || used.isBanned) throw new HttpError(429, used.isBanned)
        throw new TRPCError({ code: 'TOO_MANY_REQUESTS', message: messages.manySubscriptions })
      }
    },
  }
}
