import type { FastifyBaseLogger, FastifyRequest } from 'fastify'

/** IPv4 addresses as an IPv6 socket has them. */
const MAPPED = /^::ffff:/

/**
 * Warns once of a proxy that TRUST_PROXY does not name: all its visitors would share one limit of orders. A visitor
 * can send the header too, so what it says is not believed, only pointed out.
 */
export function createProxyWatch(log: FastifyBaseLogger): (request: FastifyRequest) => void {
  let warned = false
  return (request) => {
    if (warned || request.headers['x-forwarded-for'] === undefined) return
    const peer = request.socket.remoteAddress
    if (!peer || request.ip !== peer) return // it is believed
    warned = true
    const address = peer.replace(MAPPED, '')
    log.warn(
      { peer: address },
      `X-Forwarded-For comes from ${address}, which TRUST_PROXY does not name: all visitors behind it share one limit. If it is your proxy, set TRUST_PROXY=${address}`,
    )
  }
}
