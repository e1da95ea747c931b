import { isIPv6 } from 'node:net'
import rateLimit from '@fastify/rate-limit'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { messages } from '../../shared/order.ts'
import type { Env } from '../env.ts'
import { DAY_MS } from '../words.ts'
import { HttpError } from './error-answers.ts'

/*
 * The door: whom a request comes from, whether it comes from our own pages, and how often. What
 * stores something comes in here, by a procedure (router.ts) or as a form without scripts (form-posts.ts).
 */

/** Counts a request. Throws HttpError 429, after which `retry-after` is set. */
export type Limit = Awaited<ReturnType<typeof openDoor>>

const MINUTE_MS = 60_000
/** A carrier puts thousands of people behind one address of IPv4: no crowd of them orders as much, a program does. */
const MINUTES_WORTH_A_DAY = 30
const SUBSCRIPTIONS_A_DAY = 3
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

/** Looks at what comes to the routes that `app` gets from now on; how often something may come, each of them asks. */
export async function openDoor(app: FastifyInstance, env: Env) {
  const readForwarded = createForwardedReader(app.log)
  const checkOrigin = createOriginCheck(env, app.log)
  app.addHook('onRequest', (request, _reply, done) => {
    readForwarded(request)
    if (request.method === 'POST') checkOrigin(request)
    done()
  })
  await app.register(rateLimit, { global: false })
  const { RATE_LIMIT_MAX: max } = env
  const limits = {
    order: [
      createLimit(app, { max, ...A_MINUTE }),
      createLimit(app, { max: max * MINUTES_WORTH_A_DAY, ...A_DAY }, messages.manyOrders),
    ],
    vitals: [createLimit(app, { max: LESSER_A_MINUTE, ...A_MINUTE })],
    link: [createLimit(app, { max: LESSER_A_MINUTE, ...A_MINUTE })],
    event: [createLimit(app, { max: EVENTS_A_MINUTE, ...A_MINUTE })],
    subscription: [createLimit(app, { max: SUBSCRIPTIONS_A_DAY, ...A_DAY }, messages.manySubscriptions)],
  }
  return async (kind: keyof typeof limits, request: FastifyRequest, reply: FastifyReply) => {
    if (max > 0) for (const check of limits[kind]) await check(request, reply)
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
  return async (request: FastifyRequest, reply: FastifyReply) => {
    if (!isIPv6(request.ip)) return check(client, request, reply) // its network is the client
    // What a network that is over its limit sends counts for nothing else: its clients must not push others out of memory.
    const before = await network(request, { increment: false })
    const isOver = !before.isAllowed && before.isExceeded
    if (!isOver) await check(client, request, reply)
    await check(network, request, reply)
  }

  async function check(limit: typeof client, request: FastifyRequest, reply: FastifyReply) {
    const used = await limit(request)
    if (used.isAllowed || !used.isExceeded) return
    reply.header('retry-after', String(used.ttlInSeconds))
    throw new HttpError(429, { message, isFlood: used.isBanned })
  }
}

/** How often an address that is not ours is pointed out, and how much of it is shown: strangers can make some up. */
const WARN_AGAIN_MS = 60 * MINUTE_MS
const SHOWN = 100

/** Programs that are no browser send neither `Origin` nor `Sec-Fetch-Site`. */
function createOriginCheck({ PUBLIC_URL, PUBLIC_URL_ALIASES }: Env, log: FastifyBaseLogger) {
  const own = PUBLIC_URL && [PUBLIC_URL, ...PUBLIC_URL_ALIASES].map(canonical)
  let warnedAt = Number.NEGATIVE_INFINITY

  /** An order of our own page that is refused looks like a broken site to the visitor, and like nothing to the operator. */
  function warn(origin: string, host: string | undefined) {
    if (performance.now() - warnedAt < WARN_AGAIN_MS) return
    warnedAt = performance.now()
    const remedy = PUBLIC_URL
      ? `PUBLIC_URL is ${PUBLIC_URL}. If people reach the site there too, name it in PUBLIC_URL_ALIASES`
      : `the request was for ${host}. Set PUBLIC_URL to the address of the site`
    log.warn({ origin, host, publicUrl: PUBLIC_URL }, `Orders from ${origin} are refused: ${remedy}`)
  }

  return (request: FastifyRequest) => {
    const { origin, 'sec-fetch-site': site, host } = request.headers
    if (typeof site === 'string' && site !== 'same-origin' && site !== 'none') throw new HttpError(403)
    if (typeof origin !== 'string') return
    const from = URL.canParse(origin) ? new URL(origin) : undefined
    const isOwn = from && (own ? own.includes(canonical(origin)) : from.host === request.host)
    if (!isOwn && from && (site === 'same-origin' || from.host === host))
      warn(from.origin.slice(0, SHOWN), host?.slice(0, SHOWN))
    if (!isOwn) throw new HttpError(403)
  }
}

const THIS_MACHINE = /(?<=^https?:\/\/)(?:127\.0\.0\.1|\[::1\])(?=:|$)/

/** Names of this machine are one. */
function canonical(origin: string): string {
  return new URL(origin).origin.replace(THIS_MACHINE, 'localhost')
}

/** IPv4 addresses as an IPv6 socket has them. */
const MAPPED = /^::ffff:/
/** `203.0.113.7:50001` and `[2001:db8::7]:50001`, as Azure and IIS write what others write without the port. */
const WITH_PORT = /(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([0-9a-fA-F:.]{2,45})\](?::\d{1,5})?/g

/** Where proxies of one's own are. Any other address may be a visitor's, and the log holds none of those. */
const PRIVATE = /^(?:(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.|::1$|f[cd])/

/**
 * Makes addresses of what a proxy wrote into X-Forwarded-For, before Fastify reads them, and warns once of a proxy that
 * TRUST_PROXY does not name: all its visitors would share one limit of orders. A visitor can send the header too, so
 * what it says is not believed, only pointed out.
 */
function createForwardedReader(log: FastifyBaseLogger) {
  let warned = false
  return (request: FastifyRequest) => {
    const { headers } = request.raw
    if (headers['x-forwarded-for'] === undefined) return
    headers['x-forwarded-for'] = String(headers['x-forwarded-for']).replace(WITH_PORT, '$1$2')
    const peer = request.socket.remoteAddress
    if (warned || !peer || request.ip !== peer) return // another one is believed
    const address = peer.replace(MAPPED, '')
    if (!PRIVATE.test(address)) return
    warned = true
    log.warn(
      { peer: address },
      `X-Forwarded-For comes from ${address}, which TRUST_PROXY does not name: all visitors behind it share one limit. If it is your proxy, set TRUST_PROXY=${address}`,
    )
  }
}
