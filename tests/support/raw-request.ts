import { connect } from 'node:net'

/** What the server says to `text` before it ends the connection: `fetch` tidies paths and unpacks bodies. */
export function say(url: string, text: string): Promise<string> {
  return new Promise((done, fail) => {
    let answer = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text))
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.once('close', () => done(answer))
    socket.once('error', (error) => answer || fail(error)) // an error of the socket is none of its words
  })
}

/** A request with any Host, which `fetch` writes itself; a POST where there is a body. */
export async function sendAs(url: string, path: string, headers: Record<string, string>, body?: string) {
  const all = { ...headers, connection: 'close', ...(body && { 'content-length': body.length }) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const text = await say(url, `${body ? 'POST' : 'GET'} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
  return { status: Number(text.split(' ')[1]), text }
}
