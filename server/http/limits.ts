import { isIPv6 } from 'node:net'
import rateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DAY_MS } from '../../shared/indian-time.ts'
import { messages } from '../../shared/order.ts'
import type { Env } from '../env.ts'
import { postedFields } from './bodies.ts'
import { RequestError } from './errors.ts'

/*
 * Rate limits, by what they protect. Requests count for the limit of a minute before their body is read (but for `token`, which
 * stands in the body on the visitor's page). Only successful ones, repeats included, count for the limit of a day. A client is an
 * IPv4 address or a /64 of IPv6. One customer may have thousands of those: all of a /48 have ten times the limit together.
 */

export type RateLimits = Awaited<ReturnType<typeof registerRateLimits>>

const MINUTE_MS = 60_000
/** The limit of a day is this many times the limit of a minute, because thousands of people may share one IPv4 address. */
const DAY_FACTOR = 30
const MANY_ORDERS_A_MINUTE = 'Too many enquiries in a short time. Please wait a minute, then send it again.'
const TOKEN_LENGTH = 101
/** All clients of a /48 together have this many times the limit of one. */
const SITE_FACTOR = 10
/** A client that was refused this many times its limit gets the shortest answer. */
const FLOOD_FACTOR = 10
/** `cache` is the number of remembered clients. The count of a client that is forgotten begins again. */
const A_MINUTE = { timeWindow: MINUTE_MS, cache: 20_000 }
const A_DAY = { timeWindow: DAY_MS, cache: 50_000 }

interface Limit {
  minute: number
  day?: number
  /** What is said in place of the fixed text of a 429. */
  says?: { minute?: string; day?: string }
  /** What is counted; without it the client. */
  key?: (request: FastifyRequest) => string
}

/** @param max RATE_LIMIT_MAX: orders a minute */
const limitsOf = (max: number) =>
  ({
    order: { minute: max, day: max * DAY_FACTOR, says: { minute: MANY_ORDERS_A_MINUTE, day: messages.manyOrders } },
    /** Few, because each sends a mail to an address that anybody may type. */
    mailToStranger: { minute: max, day: 3, says: { day: messages.manySubscriptions } },
    /** Web vitals, a request for each page view; and links with a reference or token, a database query each. */
    look: { minute: 60 },
    /** Each change reads the list and the enquiry anew. */
    desk: { minute: 600 },
    /** Asking for a link to the desk, besides the limits of sign-in.ts. */
    signIn: { minute: 5, day: 20 },
    /** Of a service: far more than the events of any plan's mails, or than what a mailbox provider sends for its many users. */
    service: { minute: 3000 },
    /** What a visitor does with a stored enquiry. Another address counts as an order, too. */
    act: { minute: max },
    /** Of a link, in its address or in the form of its page, by one client: two may hold it, and neither shuts the other out. */
    token: { minute: 60, key: tokenOf },
  }) satisfies Record<string, Limit>

function tokenOf(request: FastifyRequest): string {
  const token = postedFields(request).get('token') ?? (request.query as { token?: unknown }).token
  return `${request.ip} ${String(token).slice(0, TOKEN_LENGTH)}`
}

type LimitName = keyof ReturnType<typeof limitsOf>

export async function registerRateLimits(app: FastifyInstance, { RATE_LIMIT_MAX: max }: Env) {
  await app.register(rateLimit, { global: false, store: MonotonicStore })

  /** Counts for the client, and for its /48. @returns the count that is nearer its end */
  function createCounter({ key }: Limit, most: number, window: typeof A_MINUTE): Counter {
    const counterOf = (ipv6Subnet: number, max: number) =>
      app.createRateLimit({
        ...{ ...window, ipv6Subnet, max, ban: FLOOD_FACTOR * max },
        ...(key && { keyGenerator: key }),
      }) as Counter
    const client = counterOf(64, most)
    const site = counterOf(48, SITE_FACTOR * most)
    return async (request, options) => {
      const used = await client(request, options)
      if (isOver(used, options) || key || !isIPv6(request.ip)) return used
      const ofSite = await site(request, options)
      return isOver(ofSite, options) ? ofSite : used
    }
  }

  const limits: Record<LimitName, Limit> = limitsOf(max)
  const counters = Object.fromEntries(
    Object.entries(limits).map(([name, limit]) => [
      name,
      {
        ...limit,
        aMinute: createCounter(limit, limit.minute, A_MINUTE),
        aDay: limit.day === undefined ? undefined : createCounter(limit, limit.day, A_DAY),
      },
    ]),
  ) as Record<LimitName, Counters>

  return {
    /** @throws RequestError 429; sets `retry-after` */
    async countOrRefuse(name: LimitName, request: FastifyRequest, reply: FastifyReply) {
      if (max === 0) return
      const { aMinute, says } = counters[name]
      const used = await aMinute(request)
      if (used.isExceeded) refuse(used, reply, says?.minute)
    },
    /** Runs `store` and counts it when it succeeds. @throws RequestError 429 at the limit of a day; sets `retry-after` */
    async countIfSuccessful<T>(
      name: LimitName,
      request: FastifyRequest,
      reply: FastifyReply,
      store: () => Promise<T>,
    ): Promise<T> {
      const { aDay, says } = counters[name]
      if (max === 0 || !aDay) return store()
      const asked = { increment: false }
      const used = await aDay(request, asked)
      if (isOver(used, asked)) refuse(used, reply, says?.day)
      const result = await store()
      await aDay(request)
      return result
    },
  }
}

/** `isAllowed` is true only for clients on a list, and we have none. */
type Used = Exclude<Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>, { isAllowed: true }>
type Counter = (request: FastifyRequest, options?: { increment: boolean }) => Promise<Used>
type Counters = Limit & { aMinute: Counter; aDay: Counter | undefined }

/** Of a request that is not counted the library sets no isExceeded: with nothing remaining, one more may not come. */
function isOver({ isExceeded, remaining }: Used, options?: { increment: boolean }): boolean {
  return isExceeded || (options?.increment === false && remaining === 0)
}

function refuse({ ttlInSeconds, isBanned }: Used, reply: FastifyReply, message?: string): never {
  reply.header('retry-after', String(ttlInSeconds))
  throw new RequestError(429, message, { isFlood: isBanned })
}

type Count = { current: number; endsAt: number }
type Done = Parameters<FastifyRateLimitStore['incr']>[1]

/** Counts by monotonic time: the library's own store would limit a client for a day after a clock was ahead by one. */
class MonotonicStore implements FastifyRateLimitStore {
  /** The client that was counted longest ago is first. */
  readonly #counts = new Map<string, Count>()
  readonly #cache: number

  constructor({ cache }: { cache?: number } = {}) {
    this.#cache = cache ?? A_MINUTE.cache
  }

  child(options: object): MonotonicStore {
    return new MonotonicStore(options)
  }

  incr(key: string, done: Done, timeWindow: number): void {
    const count = this.#living(key) ?? { current: 0, endsAt: performance.now() + timeWindow }
    count.current++
    this.#counts.delete(key)
    this.#counts.set(key, count)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > this.#cache && oldest !== undefined) this.#counts.delete(oldest)
    done(null, this.#shown(count))
  }

  /** For `increment: false`. */
  read(key: string, done: Done): void {
    done(null, this.#shown(this.#living(key)))
  }

  #living(key: string): Count | undefined {
    const count = this.#counts.get(key)
    return count && count.endsAt > performance.now() ? count : undefined
  }

  #shown({ current, endsAt }: Count = { current: 0, endsAt: 0 }) {
    return { current, ttl: Math.max(0, endsAt - performance.now()) }
  }
}
