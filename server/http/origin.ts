import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Env } from '../env.ts'
import { RequestError } from './errors.ts'

/** An address outside of these ranges may be a visitor's, which must not be logged. `::ffff:`: IPv4 on a socket of IPv6. */
const PRIVATE = /^(?:::ffff:)?(?:(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01])|198\.1[89])\.|::1$|f[cd])/
/** The root of the DNS: `www.example.com.` leads to the same site, and browsers send the dot. */
const ROOT_DOT = /\.(?=:\d+$|$)/
const THIS_MACHINE = /(?<=^https?:\/\/)(?:127\.0\.0\.1|\[::1\])(?=:|$)/

/** Warns of a proxy that TRUST_PROXY does not name. Its header is not believed, as a visitor can send it too. */
export function registerProxyCheck(app: FastifyInstance): void {
  const warn = onceIn(app.log)
  app.addHook('onRequest', (request, _reply, done) => {
    const peer = request.socket.remoteAddress ?? ''
    const isTrusted = (request.ips?.length ?? 0) > 1 // then the header's addresses follow that of the peer
    if (request.headers['x-forwarded-for'] && !isTrusted && PRIVATE.test(peer))
      warn(
        `X-Forwarded-For comes from ${peer}, which TRUST_PROXY does not name: all visitors behind it share one limit. If it is your proxy, set TRUST_PROXY=${peer.replace('::ffff:', '')}`,
      )
    done()
  })
}

/**
 * Refuses visitors' POST requests from other sites; the desk has a stricter check of its own. Programs other than browsers
 * send neither `Origin` nor `Sec-Fetch-Site`, and pass.
 */
export function registerOriginCheck(app: FastifyInstance, { PUBLIC_URL, PUBLIC_URL_ALIASES }: Env): void {
  const own = PUBLIC_URL && [PUBLIC_URL, ...PUBLIC_URL_ALIASES].map(canonical)
  const warn = onceIn(app.log)
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.method !== 'POST') return done()
    const { origin, 'sec-fetch-site': site, host } = request.headers
    if (site && site !== 'same-origin' && site !== 'none') return done(new RequestError(403))
    if (!origin || (origin === 'null' && site === 'same-origin')) return done() // null: browsers set to send no referrer
    const from = URL.canParse(origin) ? new URL(origin) : undefined
    // `request.host` is a trusted proxy's X-Forwarded-Host, if it sends one; `host` is the header Host itself.
    if (from && (own ? own.includes(canonical(origin)) : from.host === request.host)) return done()
    if (from && (site === 'same-origin' || from.host === host))
      warn(
        `Orders from ${from.origin} are refused because ${PUBLIC_URL ? `PUBLIC_URL is ${PUBLIC_URL}` : 'PUBLIC_URL is not set'}. If that is an address of your site, and not one that a stranger has made up, set PUBLIC_URL, or PUBLIC_URL_ALIASES`,
      )
    done(new RequestError(403))
  })
}

/** Replaces loopback addresses by `localhost`. */
function canonical(origin: string): string {
  return new URL(origin).origin.replace(ROOT_DOT, '').replace(THIS_MACHINE, 'localhost')
}

/** Anybody can cause these warnings, so each is logged once. */
function onceIn(log: FastifyBaseLogger) {
  let isDone = false
  return (message: string) => {
    if (!isDone) log.warn(message)
    isDone = true
  }
}
