import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { messages } from '../../shared/order.ts'
import type { Env } from '../env.ts'
import { RequestError } from '../errors.ts'
import { DAY_MS } from '../format.ts'

/*
 * Rate limits per client. Requests count for the limit of a minute before their body is read; only successful ones, repeats
 * included, count for the limit of a day.
 */

export type RateLimits = Awaited<ReturnType<typeof registerRateLimits>>

const MINUTE_MS = 60_000
/** The limit of a day is this many times the limit of a minute, because thousands of people may share one IPv4 address. */
const DAY_FACTOR = 30
const MANY_ORDERS_A_MINUTE = 'Too many enquiries in a short time. Please wait a minute, then send it again.'
/** Few, because each sends a mail to an address that anybody may type. */
const SUBSCRIPTIONS_A_DAY = 3
/** For web vitals, a request for each page view; and for links with a reference or token, a database query each. */
const OTHERS_A_MINUTE = 60
/** For the desk: each change reads the list and the enquiry anew. */
const DESK_A_MINUTE = 600
/** For links to the desk, besides the limits of sign-in.ts. */
const SIGN_INS_A_MINUTE = 5
const SIGN_INS_A_DAY = 20
/** Of a service: far more than the events of any plan's mails, or than people unsubscribe. */
const FROM_SERVICE_A_MINUTE = 3000
const TOKEN_LENGTH = 101
/** By IPv6 a client is a /64. */
const IPV6_SUBNET = 64
/** A client that was refused this many times its limit gets the shortest answer. */
const FLOOD_FACTOR = 10
/** `cache` is the number of remembered clients, at 285 bytes each. The count of a client that is forgotten begins again. */
const A_MINUTE = { timeWindow: MINUTE_MS, cache: 20_000 }
const A_DAY = { timeWindow: DAY_MS, cache: 50_000 }

export async function registerRateLimits(app: FastifyInstance, { RATE_LIMIT_MAX: max }: Env) {
  await app.register(rateLimit, { global: false })
  const create = (options: typeof A_MINUTE & { max: number; keyGenerator?: typeof readToken }) =>
    app.createRateLimit({ ...options, ban: FLOOD_FACTOR * options.max, ipv6Subnet: IPV6_SUBNET })
  const counted = {
    order: create({ max, ...A_MINUTE }),
    subscription: create({ max, ...A_MINUTE }),
    vitals: create({ max: OTHERS_A_MINUTE, ...A_MINUTE }),
    link: create({ max: OTHERS_A_MINUTE, ...A_MINUTE }),
    desk: create({ max: DESK_A_MINUTE, ...A_MINUTE }),
    signIn: create({ max: SIGN_INS_A_MINUTE, ...A_MINUTE }),
    signInToday: create({ max: SIGN_INS_A_DAY, ...A_DAY }),
    event: create({ max: FROM_SERVICE_A_MINUTE, ...A_MINUTE }),
    // The few addresses of a mailbox provider send what its many users click.
    unsubscribe: create({ max: FROM_SERVICE_A_MINUTE, ...A_MINUTE }),
    token: create({ max: OTHERS_A_MINUTE, ...A_MINUTE, keyGenerator: readToken }),
  }
  const successful = {
    order: create({ max: max * DAY_FACTOR, ...A_DAY }),
    subscription: create({ max: SUBSCRIPTIONS_A_DAY, ...A_DAY }),
  }
  const usedUp = { order: messages.manyOrders, subscription: messages.manySubscriptions }
  return {
    /** @throws RequestError 429; sets `retry-after` */
    async countOrRefuse(kind: keyof typeof counted, request: FastifyRequest, reply: FastifyReply) {
      if (max === 0) return
      const used = (await counted[kind](request)) as Used
      if (used.isExceeded) refuse(used, reply, kind === 'order' ? MANY_ORDERS_A_MINUTE : undefined)
    },
    /** Runs `store` and counts it when it succeeds. @throws RequestError 429 at the limit of a day; sets `retry-after` */
    async countIfSuccessful<T>(
      kind: keyof typeof successful,
      request: FastifyRequest,
      reply: FastifyReply,
      store: () => Promise<T>,
    ): Promise<T> {
      if (max === 0) return store()
      // `isExceeded` is true only of requests that are counted.
      const used = (await successful[kind](request, { increment: false })) as Used
      if (used.remaining === 0) refuse(used, reply, usedUp[kind])
      const result = await store()
      await successful[kind](request)
      return result
    },
  }
}

/** `isAllowed` is true only for clients on a list, and we have none. */
type Used = Exclude<Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>, { isAllowed: true }>

function refuse({ ttlInSeconds, isBanned }: Used, reply: FastifyReply, message?: string): never {
  reply.header('retry-after', String(ttlInSeconds))
  throw new RequestError(429, message, { isFlood: isBanned })
}

/** Of a subscriber's link; no more of it than a token has. */
function readToken({ query }: FastifyRequest): string {
  return String((query as { token?: unknown }).token).slice(0, TOKEN_LENGTH)
}
