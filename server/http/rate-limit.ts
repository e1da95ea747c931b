import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { messages } from '../../shared/order.ts'
import type { Env } from '../env.ts'
import { DAY_MS } from '../format.ts'
import { HttpError } from './error-answers.ts'

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
  const minute = {
    order: createLimit(app, { max, ...A_MINUTE }, MANY_ORDERS_A_MINUTE),
    subscription: createLimit(app, { max, ...A_MINUTE }),
    vitals: createLimit(app, { max: OTHERS_A_MINUTE, ...A_MINUTE }),
    link: createLimit(app, { max: OTHERS_A_MINUTE, ...A_MINUTE }),
    desk: createLimit(app, { max: DESK_A_MINUTE, ...A_MINUTE }),
    signIn: createLimit(app, { max: SIGN_INS_A_MINUTE, ...A_MINUTE }),
    event: createLimit(app, { max: FROM_SERVICE_A_MINUTE, ...A_MINUTE }),
    // The few addresses of a mailbox provider send what its many users click.
    unsubscribe: createLimit(app, { max: FROM_SERVICE_A_MINUTE, ...A_MINUTE }),
    token: createLimit(app, { max: OTHERS_A_MINUTE, ...A_MINUTE, keyGenerator: readToken }),
  }
  const day = {
    order: createLimit(app, { max: max * DAY_FACTOR, ...A_DAY }, messages.manyOrders),
    subscription: createLimit(app, { max: SUBSCRIPTIONS_A_DAY, ...A_DAY }, messages.manySubscriptions),
  }
  const signInsADay = createLimit(app, { max: SIGN_INS_A_DAY, ...A_DAY })
  const isOff = max === 0
  return {
    /** @throws HttpError 429; sets `retry-after` */
    async countOrRefuse(kind: keyof typeof minute, request: FastifyRequest, reply: FastifyReply) {
      if (isOff) return
      await minute[kind].countOrRefuse(request, reply)
      if (kind === 'signIn') await signInsADay.countOrRefuse(request, reply)
    },
    /** Runs `store` and counts it when it succeeds. @throws HttpError 429 at the limit of a day; sets `retry-after` */
    async countIfSuccessful<T>(
      kind: keyof typeof day,
      request: FastifyRequest,
      reply: FastifyReply,
      store: () => Promise<T>,
    ): Promise<T> {
      if (isOff) return store()
      await day[kind].refuseIfUsedUp(request, reply)
      const result = await store()
      await day[kind].count(request)
      return result
    },
  }
}

/** Of a subscriber's link; no more of it than a token has. */
function readToken({ query }: FastifyRequest): string {
  return String((query as { token?: unknown }).token).slice(0, TOKEN_LENGTH)
}

function createLimit(
  app: FastifyInstance,
  options: { max: number; timeWindow: number; cache: number; keyGenerator?: typeof readToken },
  message?: string,
) {
  const limit = app.createRateLimit({ ...options, ban: FLOOD_FACTOR * options.max, ipv6Subnet: IPV6_SUBNET })
  type Used = Exclude<Awaited<ReturnType<typeof limit>>, { isAllowed: true }> // true only for clients on a list, and we have none

  function refuse({ ttlInSeconds, isBanned }: Used, reply: FastifyReply): never {
    reply.header('retry-after', String(ttlInSeconds))
    throw new HttpError(429, { message, isFlood: isBanned })
  }

  return {
    async count(request: FastifyRequest) {
      await limit(request)
    },
    /** Counts a request, and refuses it at the limit. */
    async countOrRefuse(request: FastifyRequest, reply: FastifyReply) {
      const used = (await limit(request)) as Used
      if (used.isExceeded) refuse(used, reply)
    },
    /** Refuses a client at its limit, without counting the request: `isExceeded` is true only of counted ones. */
    async refuseIfUsedUp(request: FastifyRequest, reply: FastifyReply) {
      const used = (await limit(request, { increment: false })) as Used
      if (used.remaining === 0) refuse(used, reply)
    },
  }
}
