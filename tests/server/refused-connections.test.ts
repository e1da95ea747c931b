// A request that is no proper HTTP is answered in words with the security headers, and the orders before it are stored.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { anOrder } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { say } from '../support/raw-request.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({
    mails: false,
    rateLimitMax: 1000,
    timeouts: { headersMs: 1000, requestMs: 2000, idleSocketMs: 13_000 },
  })
})
afterAll(() => app.close())

const said = (text: string) => say(app.url, text)

it.concurrent.each([
  ['what is no HTTP', 'nonsense\r\n\r\n', 400],
  ['headers that are too long', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
  ['headers that do not end', 'GET / HTTP/1.1\r\nHost: x\r\n', 408],
  ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ['an expectation that nobody meets', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n', 417],
])('%s: an answer in words, with the headers of every answer', async (_name, text, status) => {
  const answer = await said(text)
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(answer).toMatch(/content-security-policy: default-src 'none'/)
  expect(answer).toMatch(/x-content-type-options: nosniff/)
  expect(answer).toMatch(/\{"error":\{"message":/)
})

function requestOf(order: object): string {
  const body = JSON.stringify(order)
  return `POST /trpc/order.submit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

it('two orders followed by garbage in one packet: both are stored and answered, then the garbage is refused', async () => {
  const answer = await said(`${requestOf(anOrder())}${requestOf(anOrder())}garbage\r\n\r\n`)
  expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'])
  expect(answer.match(/"reference":"/g)).toHaveLength(2)
  expect(await app.db.enquiry.count()).toBe(2)
})

it('an order whose second half is no HTTP: refused at once, and nothing stored', async () => {
  const before = await app.db.enquiry.count()
  const head = 'POST /trpc/order.submit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const answer = await said(`${requestOf(anOrder())}${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"nam\r\nno length`)
  expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
  expect(await app.db.enquiry.count()).toBe(before + 1)
})

it('clients that send an order and disconnect: no error is logged', async () => {
  app.logLines.length = 0
  for (let index = 0; index < 100; index++) {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(requestOf(anOrder()), () => socket.resetAndDestroy())
  }
  await sleep(500)
  await eventually(async () => expect(await app.connections()).toBe(0))
  expect(app.loggedErrors()).toHaveLength(0)
})
