import { BlockList, isIPv6 } from 'node:net'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'

/** IPv4 addresses as an IPv6 socket has them. */
const MAPPED = /^::ffff:/

/** Where proxies of one's own are. Any other address may be a visitor's, and the log holds none of those. */
const PRIVATE = new BlockList()
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  PRIVATE.addSubnet(network, prefix)
PRIVATE.addAddress('::1', 'ipv6')
PRIVATE.addSubnet('fc00::', 7, 'ipv6')

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
    const address = peer.replace(MAPPED, '')
    if (!PRIVATE.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return
    warned = true
    log.warn(
      { peer: address },
      `X-Forwarded-For comes from ${address}, which TRUST_PROXY does not name: all visitors behind it share one limit. If it is your proxy, set TRUST_PROXY=${address}`,
    )
  }
}
