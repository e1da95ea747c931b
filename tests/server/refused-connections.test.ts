import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ mails: false })
})
afterAll(() => app.close())

/** What the server says before it ends the connection; a socket error is none of its words. */
function say(text: string): Promise<string> {
  return new Promise((done, fail) => {
    let answer = ''
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1', () => socket.write(text))
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.once('close', () => done(answer))
    socket.once('error', (error) => (answer ? done(answer) : fail(error)))
  })
}

it.each([
  ['what is no HTTP', 'nonsense\r\n\r\n', 400],
  ['headers that are too long', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
  ['headers that do not end', 'GET / HTTP/1.1\r\nHost: x\r\n', 408],
])('%s: an answer in words, with the headers of every answer', async (_name, text, status) => {
  const answer = await say(text)
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(answer).toMatch(/content-security-policy: default-src 'none'/)
  expect(answer).toMatch(/x-content-type-options: nosniff/)
  expect(answer).toMatch(/\{"error":\{"message":/)
})
