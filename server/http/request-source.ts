import { isIP } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { Env } from '../env.ts'
import { HttpError } from './error-answers.ts'

/** Reads the client's address behind proxies. */
export function registerForwardedAddresses(app: FastifyInstance): void {
  const cleanForwardedFor = createForwardedCleaner(app.log)
  app.addHook('onRequest', (request, _reply, done) => {
    cleanForwardedFor(request)
    done()
  })
}

/** Checks the origin of visitors' POST requests. The desk has a stricter check of its own. */
export function registerOriginCheck(app: FastifyInstance, env: Env): void {
  const checkOrigin = createOriginCheck(env, app.log)
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.method === 'POST') checkOrigin(request)
    done()
  })
}

/** Anybody can send any `Origin`, so the warning is logged at most once an hour. */
const WARN_AGAIN_MS = 60 * 60_000
const SHOWN_MAX = 100

/** Programs other than browsers send neither `Origin` nor `Sec-Fetch-Site`, and pass. */
function createOriginCheck({ PUBLIC_URL, PUBLIC_URL_ALIASES }: Env, log: FastifyBaseLogger) {
  const own = PUBLIC_URL && [PUBLIC_URL, ...PUBLIC_URL_ALIASES].map(canonical)
  let warnedAt = Number.NEGATIVE_INFINITY

  /** Tells the operator, who would not notice otherwise, that orders from our own pages may be refused. */
  function warn(origin: string, host: string | undefined) {
    if (performance.now() - warnedAt < WARN_AGAIN_MS) return
    warnedAt = performance.now()
    const remedy = PUBLIC_URL
      ? `PUBLIC_URL is ${PUBLIC_URL}. If your site has a further address, name it in PUBLIC_URL_ALIASES`
      : 'set PUBLIC_URL to the address of the site'
    // The claimed address may be a stranger's: it is shown, but not part of the advice.
    log.warn(
      { claimedOrigin: printable(origin), claimedHost: host && printable(host), publicUrl: PUBLIC_URL },
      `Orders are refused because their Origin is not the site’s address: ${remedy}. A stranger may have made up the address shown here`,
    )
  }

  return (request: FastifyRequest) => {
    const { origin, 'sec-fetch-site': site, host } = request.headers
    if (typeof site === 'string' && site !== 'same-origin' && site !== 'none') throw new HttpError(403)
    if (typeof origin !== 'string') return
    if (origin === 'null' && site === 'same-origin') return // from browsers that are set to send no referrer
    const from = URL.canParse(origin) ? new URL(origin) : undefined
    // `request.host` is a trusted proxy's X-Forwarded-Host, if it sends one; `host` is the header Host itself.
    const isOwn = from && (own ? own.includes(canonical(origin)) : from.host === request.host)
    if (isOwn) return
    const isProbablyOurs = from && (site === 'same-origin' || from.host === host) // then a setting is wrong
    if (isProbablyOurs) warn(from.origin, host)
    throw new HttpError(403)
  }
}

/** Other bytes could control a terminal. */
function printable(text: string): string {
  return text.slice(0, SHOWN_MAX).replace(/[^\x20-\x7e]/g, '?')
}

/** The root of the DNS: `www.example.com.` leads to the same site, and browsers send the dot. */
const ROOT_DOT = /\.(?=:\d+$|$)/
const THIS_MACHINE = /(?<=^https?:\/\/)(?:127\.0\.0\.1|\[::1\])(?=:|$)/

/** Replaces loopback addresses by `localhost`. */
function canonical(origin: string): string {
  return new URL(origin).origin.replace(ROOT_DOT, '').replace(THIS_MACHINE, 'localhost')
}

/** IPv4 addresses on an IPv6 socket. */
const MAPPED = /^::ffff:/
/** `203.0.113.7:50001` and `[2001:db8::7]:50001`: Azure and IIS add the port. */
const WITH_PORT = /(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([0-9a-fA-F:.]{2,45})\](?::\d{1,5})?/g

/** An address outside of these ranges may be a visitor's, which must not be logged. */
const PRIVATE = /^(?:(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01])|198\.1[89])\.|::1$|f[cd])/

/**
 * Removes ports from X-Forwarded-For before Fastify reads it. If an entry is no address, it and all entries to its left are
 * removed: they may be made up. Warns once of a proxy that TRUST_PROXY does not name: all its visitors
 * would share one rate limit. The header itself is not believed then, as a visitor can send it too.
 */
function createForwardedCleaner(log: FastifyBaseLogger) {
  let warned = false
  let warnedOfCdn = false
  return (request: FastifyRequest) => {
    const { headers } = request.raw
    if (headers['x-forwarded-for'] === undefined) return
    const entries = String(headers['x-forwarded-for'])
      .replace(WITH_PORT, '$1$2')
      .split(',')
      .map((entry) => entry.trim())
    const addresses = entries.slice(entries.findLastIndex((entry) => !isIP(entry)) + 1)
    if (addresses.length === 0) {
      delete headers['x-forwarded-for'] // the client is the peer
      return
    }
    headers['x-forwarded-for'] = addresses.join()
    const peer = request.socket.remoteAddress?.replace(MAPPED, '')
    if (!peer || !PRIVATE.test(peer)) return
    // One address: our proxy did not name the visitor behind the CDN.
    if (!warnedOfCdn && headers['cdn-loop'] && addresses.length === 1) {
      warnedOfCdn = true
      log.warn(
        'A request came through a CDN (CDN-Loop), and X-Forwarded-For names one address: if it is the CDN’s, all visitors share its limit. See “Behind a CDN” in docs/deploy.md',
      )
    }
    const isBelieved = request.ip !== request.socket.remoteAddress // TRUST_PROXY names this proxy
    if (warned || isBelieved) return
    warned = true
    log.warn(
      { peer },
      `X-Forwarded-For comes from ${peer}, which TRUST_PROXY does not name: all visitors behind it share one limit. If it is your proxy, set TRUST_PROXY=${peer}`,
    )
  }
}
