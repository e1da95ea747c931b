import { connect } from 'node:net'
import { aUniqueOrder, percentile } from '../support/load.ts'

export interface Measured {
  /** Answers with status 200 a second. */
  perSecond: number
  p50Ms: number
  p99Ms: number
  failed: number
}

export interface HttpLoad {
  port: number
  connections: number
  seconds: number
  /** The next request, whole. */
  request: () => string
  /** At most so many requests a second over all connections; without it as fast as answers come. */
  perSecond?: number
}

/** Keep-alive connections that each send a request when the last one is answered. Does as little as it can, for it shares the machine. */
export async function measureHttp({ port, connections, seconds, request, perSecond }: HttpLoad): Promise<Measured> {
  const times: number[] = []
  let failed = 0
  const end = performance.now() + seconds * 1000
  const gapMs = perSecond ? (connections * 1000) / perSecond : 0
  function runConnection(index: number): Promise<void> {
    return new Promise((done, fail) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let start = 0
      let received = ''
      function send() {
        start = performance.now()
        if (start >= end) socket.destroy()
        else socket.write(request())
      }
      socket.setEncoding('latin1')
      socket.on('connect', () => setTimeout(send, (gapMs * index) / connections))
      socket.on('error', fail)
      socket.on('close', () => done())
      socket.on('data', (chunk: string) => {
        received += chunk
        if (!isComplete(received)) return
        const elapsed = performance.now() - start
        if (received.startsWith('HTTP/1.1 200')) times.push(elapsed)
        else failed++
        received = ''
        if (gapMs) setTimeout(send, Math.max(0, gapMs - elapsed))
        else send()
      })
    })
  }
  await Promise.all(Array.from({ length: connections }, (_, index) => runConnection(index)))
  return { perSecond: times.length / seconds, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99), failed }
}

function isComplete(text: string): boolean {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return false
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1]
  return length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= head + 4 + Number(length)
}

/** A new order, as a request to this path. */
export function postOrder(path: string): string {
  const text = JSON.stringify(aUniqueOrder())
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

/** The median milliseconds of an order at a site that gets 100 a second. */
export async function calmP50(url: string, seconds: number): Promise<number> {
  const request = () => postOrder('/trpc/order.submit')
  const load = { port: Number(new URL(url).port), connections: 8, perSecond: 100, request }
  await measureHttp({ ...load, seconds: 1 }) // until it is warm
  return (await measureHttp({ ...load, seconds })).p50Ms
}
