import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { listen } from './listen.ts'

/** What NOTIFY_URL leads to: takes what is posted, or does what `answer` does. */
export async function startFakeReceiver() {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    receiver.posts.push({ path: request.url, headers: request.headers, body })
    receiver.answer(response)
  })
  const { url, close } = await listen(server)
  const receiver = {
    url: `${url}/services/T0/B0/s3cret-path`,
    posts: [] as { path: string | undefined; headers: IncomingHttpHeaders; body: string }[],
    answer: (response: ServerResponse): unknown => response.writeHead(204).end(),
    close,
  }
  return receiver
}
