import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/* What Node refuses before there is a request for Fastify. Without these functions the answers would lack our headers. */

const STATUSES: Record<string, number> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }

/** Answers a connection whose request cannot be read, and closes it. */
export function createClientErrorHandler(headers: Record<string, string>) {
  const lines = Object.entries({ ...headers, 'content-length': '0', connection: 'close' })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  return (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return
    const status = STATUSES[error.code ?? ''] ?? 400
    if (socket.writable) socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n`)
    socket.destroy(error)
  }
}

/** Answers `Expect` with another value than `100-continue`. */
export function refuseExpectations(server: Server, headers: Record<string, string>): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(417, headers).end()
  })
}

/**
 * Whether a request has the one header Host that HTTP/1.1 asks for. Of two, Node shows the first only, and a proxy in front may
 * have gone by the other.
 */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') hosts++
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1')
}
