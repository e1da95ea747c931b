import { isIPv6 } from 'node:net'
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { messages } from '../../shared/order.ts'
import type { Env } from '../env.ts'
import { DAY_MS } from '../format.ts'
import { HttpError } from './error-answers.ts'

/*
 * How often a client may send something, and how much memory request bodies may take. Requests are counted for the
 * minute before their body is read; only what was stored counts for the day.
 */

export type RateLimits = Awaited<ReturnType<typeof registerRateLimits>>
type Stored = 'order' | 'subscription'

const MINUTE_MS = 60_000
/** A carrier puts thousands of people behind one address of IPv4: no crowd of them orders as much, a program does. */
const MINUTES_WORTH_A_DAY = 30
const SUBSCRIPTIONS_A_DAY = 3
const ACKNOWLEDGEMENTS_A_DAY = 10
/** One for each page that somebody leaves; and looks for a reference or a subscriber's link, each a query. */
const LESSER_A_MINUTE = 60
/** Far more than the events of the mails that any plan sends. */
const EVENTS_A_MINUTE = 3000
/** One client by IPv6 is a /64, and one customer of a provider may have a /48 of 65,536 of them. */
const CLIENT_SUBNET = 64
const NETWORK = { ipv6Subnet: 48, clients: 5 }
/** So many times more than are taken is no crowd behind one address. */
const FLOOD = 10
/** `cache` is how many clients are remembered, at 285 bytes: whoever could bring more would be free of the limits. */
const A_MINUTE = { timeWindow: MINUTE_MS, cache: 20_000 }
const A_DAY = { timeWindow: DAY_MS, cache: 50_000 }

export async function registerRateLimits(app: FastifyInstance, { RATE_LIMIT_MAX: max }: Env) {
  await app.register(rateLimit, { global: false })
  const minute = {
    order: createLimit(app, { max, ...A_MINUTE }),
    subscription: createLimit(app, { max, ...A_MINUTE }),
    vitals: createLimit(app, { max: LESSER_A_MINUTE, ...A_MINUTE }),
    link: createLimit(app, { max: LESSER_A_MINUTE, ...A_MINUTE }),
    event: createLimit(app, { max: EVENTS_A_MINUTE, ...A_MINUTE }),
  }
  const day = {
    order: createLimit(app, { max: max * MINUTES_WORTH_A_DAY, ...A_DAY }, messages.manyOrders),
    subscription: createLimit(app, { max: SUBSCRIPTIONS_A_DAY, ...A_DAY }, messages.manySubscriptions),
  }
  const isOff = max === 0
  return {
    /** Counts a request. Throws HttpError 429, after which `retry-after` is set. */
    async count(kind: keyof typeof minute, request: FastifyRequest, reply: FastifyReply) {
      if (!isOff) await minute[kind].count(request, reply)
    },
    /**
     * Runs `store`, and counts it once it has stored. `acknowledge` is false for a client with enough acknowledgements today.
     * @throws HttpError 429 when the client has stored its share of today, after which `retry-after` is set
     */
    async store<T>(
      kind: Stored,
      request: FastifyRequest,
      reply: FastifyReply,
      store: (options: { acknowledge: boolean }) => Promise<T>,
    ): Promise<T> {
      if (isOff) return store({ acknowledge: true })
      const acknowledge = (await day[kind].assertLeft(request, reply)) < ACKNOWLEDGEMENTS_A_DAY
      const result = await store({ acknowledge })
      await day[kind].count(request)
      return result
    },
  }
}

/** So many for a client, and five times as many for its network. */
function createLimit(
  app: FastifyInstance,
  options: { max: number; timeWindow: number; cache: number },
  message?: string,
) {
  const limitOf = (max: number, ipv6Subnet: number) =>
    app.createRateLimit({ ...options, max, ban: FLOOD * options.max, ipv6Subnet })
  const client = limitOf(options.max, CLIENT_SUBNET)
  const network = limitOf(options.max * NETWORK.clients, NETWORK.ipv6Subnet)
  type Used = Exclude<Awaited<ReturnType<typeof client>>, { isAllowed: true }>

  async function use(limit: typeof client, request: FastifyRequest, increment: boolean): Promise<Used> {
    return (await limit(request, { increment })) as Used // there is no list of allowed clients
  }

  function refuse({ ttlInSeconds, isBanned }: Used, reply: FastifyReply): never {
    reply.header('retry-after', String(ttlInSeconds))
    throw new HttpError(429, { message, isFlood: isBanned })
  }

  return {
    /** Counts, and refuses where `reply` is given. */
    async count(request: FastifyRequest, reply?: FastifyReply) {
      const hasNetwork = isIPv6(request.ip)
      // What a network that is over its limit sends counts for nothing else: its clients must not push others out of memory.
      const isNetworkOver = hasNetwork && (await use(network, request, false)).isExceeded
      for (const limit of [...(isNetworkOver ? [] : [client]), ...(hasNetwork ? [network] : [])]) {
        const used = await use(limit, request, true)
        if (used.isExceeded && reply) refuse(used, reply)
      }
    },
    /** Refuses a client that has nothing left. Returns how many it has used, or its network for each client that it may be. */
    async assertLeft(request: FastifyRequest, reply: FastifyReply): Promise<number> {
      const used = [await use(client, request, false)]
      if (isIPv6(request.ip)) used.push(await use(network, request, false))
      for (const each of used) if (each.remaining === 0) refuse(each, reply)
      return Math.max(...used.map(({ max, remaining }) => ((max - remaining) * options.max) / max))
    },
  }
}

/** Bodies of one request may be this large: a form with every field at its longest has 4 kB. */
export const BODY_LIMIT = 16 * 1024

/** Refuses requests of `app` while the bodies of those that are not answered yet could take more than `bytes`. */
export function limitBodies(app: FastifyInstance, bytes: number): void {
  let reserved = 0
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const size = Number(request.headers['content-length'] ?? BODY_LIMIT)
    if (size > BODY_LIMIT) return done() // refused with 413 before it is read
    if (reserved + size > bytes) return done(new HttpError(503))
    reserved += size
    reply.raw.once('close', () => {
      reserved -= size
    })
    done()
  })
}
