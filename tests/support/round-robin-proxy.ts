import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from './listen.ts'

/**
 * Spreads requests over servers as a load balancer does that repeats them: one that cannot be
 * reached, or breaks off before it answers, is passed over for the next. An order may be repeated: it has a key.
 */
export async function startProxy(targets: string[]) {
  /** By the address of the server that gave them. */
  const answers = new Map<string, number>()
  let turn = 0
  const server = createServer(async (incoming, outgoing) => {
    const { 'content-type': type = '', 'x-forwarded-for': visitor = '127.0.0.1' } = incoming.headers
    const headers = { connection: 'close', ...(type && { 'content-type': type }), 'x-forwarded-for': String(visitor) }
    const { method = 'GET', url } = incoming
    const body = method === 'GET' ? null : await text(incoming)
    const first = turn++
    for (let tries = 0; tries < targets.length; tries++) {
      const target = targets[(first + tries) % targets.length] ?? ''
      const answer = await fetch(target + url, { method, headers, body })
        .then(async (each) => ({ status: each.status, body: await each.text() }))
        .catch(() => undefined)
      if (!answer) continue
      answers.set(target, (answers.get(target) ?? 0) + 1)
      return outgoing.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
    }
    outgoing.writeHead(502, { 'content-type': 'application/json' }).end('{}')
  })
  return { ...(await listen(server)), answers }
}
