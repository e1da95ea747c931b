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
