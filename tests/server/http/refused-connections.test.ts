import { afterAll, beforeAll, expect, it } from 'vitest'
import { anOrder } from '../../support/an-order.ts'
import { say } from '../../support/raw-request.ts'
import { startTestApp, type TestApp } from '../../support/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({
    mails: false,
    rateLimitMax: 1000,
    timeouts: { headersMs: 1000, requestMs: 2000, idleSocketMs: 13_000 },
  })
})
afterAll(() => app.close())

const HEAD = 'POST /trpc/order.submit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

function requestOf(order: object): string {
  const body = JSON.stringify(order)
  return `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`
}

it.concurrent.each([
  ['what is no HTTP', 'nonsense\r\n\r\n', 400],
  ['headers that are too long', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
  ['headers that do not end', 'GET / HTTP/1.1\r\nHost: x\r\n', 408],
  ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nhOst: x\r\n\r\n', 400],
  ['an expectation that nobody meets', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: tea\r\n\r\n', 417],
  ['a body that breaks off', `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"nam\r\nno length`, 400],
])('%s is refused, with the security headers', async (_name, text, status) => {
  const answer = (await say(app.url, text)).toLowerCase()
  expect(answer).toMatch(new RegExp(`^http/1.1 ${status} `))
  for (const header of ["content-security-policy: default-src 'none'", 'x-content-type-options: nosniff'])
    expect(answer).toContain(`\r\n${header}`)
  expect(answer).toContain('\r\ncache-control: no-store\r\n')
})

it('two orders in one packet are stored and answered in their order', async () => {
  const before = await app.db.enquiry.count()
  const last = requestOf(anOrder()).replace('Host: x', 'Host: x\r\nConnection: close')
  const answer = await say(app.url, requestOf(anOrder()) + last)
  expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
  expect(answer.match(/"reference":"/g)).toHaveLength(2)
  expect(await app.db.enquiry.count()).toBe(before + 2)
})
