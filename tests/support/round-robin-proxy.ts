import { type ClientRequest, createServer, type IncomingHttpHeaders, request } from 'node:http'
import { listen } from './listen.ts'

export interface RoundRobinProxy {
  url: string
  /** Answers by the address of the server that gave them. */
  answers: Map<string, number>
  close(): Promise<void>
}

/**
 * Spreads requests over servers as a load balancer does that repeats them: one that cannot be
 * reached, or breaks off before it answers, is passed over for the next. An order may be repeated: it has a key.
 */
export async function startProxy(targets: string[]): Promise<RoundRobinProxy> {
  const answers = new Map<string, number>()
  let turn = 0

  const server = createServer(async (incoming, outgoing) => {
    let body = Buffer.alloc(0)
    for await (const chunk of incoming) body = Buffer.concat([body, chunk])
    const first = turn++
    for (let tries = 0; tries < targets.length; tries++) {
      const target = targets[(first + tries) % targets.length] ?? ''
      const options = { method: incoming.method, agent: false, headers: forwarded(incoming.headers) }
      const answer = await exchange(request(`${target}${incoming.url}`, options), body).catch(() => undefined)
      if (!answer) continue
      answers.set(target, (answers.get(target) ?? 0) + 1)
      return outgoing.writeHead(answer.status, answer.headers).end(answer.body)
    }
    outgoing.writeHead(502, { 'content-type': 'application/json' }).end('{}')
  })
  return { ...(await listen(server)), answers }
}

function forwarded(headers: IncomingHttpHeaders) {
  return { ...headers, connection: 'close', 'x-forwarded-for': headers['x-forwarded-for'] ?? '127.0.0.1' }
}

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

function exchange(call: ClientRequest, body: Buffer): Promise<Answer> {
  return new Promise((done, fail) => {
    call.once('error', fail)
    call.once('response', async (response) => {
      const chunks: Buffer[] = []
      response.once('error', fail)
      for await (const chunk of response) chunks.push(chunk)
      const { connection: _, ...headers } = response.headers
      done({ status: response.statusCode ?? 502, headers, body: Buffer.concat(chunks) })
    })
    call.end(body)
  })
}
