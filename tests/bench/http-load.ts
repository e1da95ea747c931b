import { connect } from 'node:net'

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
  await Promise.all(Array.from({ length: connections }, (_, index) => runConnection(index)))
  times.sort((a, b) => a - b)
  return {
    perSecond: times.length / seconds,
    p50Ms: times[Math.floor(times.length * 0.5)] ?? Number.NaN,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
    failed,
  }

  function runConnection(index: number): Promise<void> {
    return new Promise((done, fail) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let start = 0
      let received = ''
      const send = () => {
        if (performance.now() >= end) {
          socket.destroy()
          done()
          return
        }
        start = performance.now()
        socket.write(request())
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
}

function isComplete(text: string): boolean {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return false
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1]
  return length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= head + 4 + Number(length)
}

export function post(path: string, body: object): string {
  const text = JSON.stringify(body)
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
