import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { Env } from '../env.ts'
import { HttpError } from './error-answers.ts'

/** Where a request comes from: which client, behind which proxy, and from whose page. */
export function registerSourceChecks(app: FastifyInstance, env: Env): void {
  const readForwarded = createForwardedReader(app.log)
  const checkOrigin = createOriginCheck(env, app.log)
  app.addHook('onRequest', (request, _reply, done) => {
    readForwarded(request)
    if (request.method === 'POST') checkOrigin(request)
    done()
  })
}

/** Strangers can send any `Origin`, so the warning is repeated at most this often. */
const WARN_AGAIN_MS = 60 * 60_000
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
      ? `PUBLIC_URL is ${PUBLIC_URL}. If your site has a further address, name it in PUBLIC_URL_ALIASES`
      : 'set PUBLIC_URL to the address of the site'
    // What the request claims is shown to recognise one's own address by. It is not repeated in the advice.
    log.warn(
      { claimedOrigin: printable(origin), claimedHost: host && printable(host), publicUrl: PUBLIC_URL },
      `Orders are refused because they come from another address than the site’s own: ${remedy}. The address claimed here may be made up by a stranger`,
    )
  }

  return (request: FastifyRequest) => {
    const { origin, 'sec-fetch-site': site, host } = request.headers
    if (typeof site === 'string' && site !== 'same-origin' && site !== 'none') throw new HttpError(403)
    if (typeof origin !== 'string') return
    const from = URL.canParse(origin) ? new URL(origin) : undefined
    const isOwn = from && (own ? own.includes(canonical(origin)) : from.host === request.host)
    if (!isOwn && from && (site === 'same-origin' || from.host === host)) warn(from.origin, host)
    if (!isOwn) throw new HttpError(403)
  }
}

/** Headers are bytes: those outside of printable ASCII could control a terminal. */
function printable(text: string): string {
  return text.slice(0, SHOWN).replace(/[^\x20-\x7e]/g, '?')
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
