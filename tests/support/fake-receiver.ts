import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What NOTIFY_URL leads to: takes what is posted, or does what `answer` does. */
export async function startFakeReceiver() {
  const receiver = {
    url: '',
    posts: [] as { path: string | undefined; headers: IncomingHttpHeaders; body: string }[],
    answer: (response: ServerResponse): unknown => response.writeHead(204).end(),
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    receiver.posts.push({ path: request.url, headers: request.headers, body })
    receiver.answer(response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/T0/B0/s3cret-path`
  return receiver
}
