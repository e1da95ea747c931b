// Request bodies that are too large are refused before they are read.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { anApp, theApp } from '../../support/fixtures.ts'
import { say } from '../../support/raw-request.ts'

const FORM = 'application/x-www-form-urlencoded'

const app = await theApp({ mails: false, webhookSecret: 'whsec_c2VjcmV0' })
const OWN = { 'content-type': FORM, origin: app.url, host: new URL(app.url).host }
const sockets: Socket[] = []
const closeSockets = () => {
  for (const socket of sockets.splice(0)) socket.destroy()
}
afterEach(closeSockets)

/** Begins a request whose body never comes whole. Returns the status line of the answer, '' until there is one. */
async function begin(path: string, length: number, headers: Record<string, string> = {}, { url } = app) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  const lines = Object.entries({ host: 'quvera.test', 'content-length': length, ...headers })
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\nname=A`)
  return () => answer.split(' ')[1] ?? ''
}

async function beginMany(count: number, one: () => ReturnType<typeof begin>) {
  const answers: (() => string)[] = []
  for (let index = 0; index < count; index++) answers.push(await one())
  return () => answers.map((status) => status())
}

it('a form is counted before its body is read, and refused over the limit', async () => {
  const limited = await anApp({ mails: false, rateLimitMax: 4 })
  const statuses = await beginMany(7, () => begin('/buy-now', 1000, { 'content-type': FORM }, limited))
  await eventually(() => expect(statuses()).toEqual([...Array(4).fill(''), '429', '429', '429']))
})

const JSON_TYPE = { 'content-type': 'application/json' }
const signed = { ...JSON_TYPE, 'svix-id': '1', 'svix-timestamp': '1', 'svix-signature': 'v1,x' }
it.each<[path: string, length: number, status: string, headers: Record<string, string>]>([
  ['/buy-now', 16 * 1024 + 1, '413', { 'content-type': FORM }],
  ['/trpc/order.submit', 16 * 1024 + 1, '413', JSON_TYPE],
  ['/webhooks/resend', 16 * 1024 + 1, '413', signed],
  ['/subscription?token=x', 1025, '413', { 'content-type': FORM }],
  ...['/staff/sign-in', '/staff/enter', '/staff/sign-out'].map(
    (path): [string, number, string, Record<string, string>] => [path, 1025, '413', OWN],
  ),
  ['/webhooks/resend', 1000, '400', JSON_TYPE],
  ['/nowhere', 1000, '404', JSON_TYPE],
  ['/healthz', 1000, '404', JSON_TYPE],
])('a body that is not taken is refused before it is read: %s, %i bytes: %s', async (path, length, status, headers) => {
  const answer = await begin(path, length, headers)
  await eventually(() => expect(answer()).toBe(status))
})

it('a form with more fields than any of ours is refused, and its fields are not read', async () => {
  const post = async (body: string) =>
    (await fetch(`${app.url}/buy-now`, { method: 'POST', headers: { 'content-type': FORM }, body })).status
  expect([await post('&'.repeat(8000)), await post('name=A&'.repeat(49))]).toEqual([413, 400])
})

it('a body that does not name its length may come in a few pieces, and not in hundreds', async () => {
  const head = `POST /buy-now HTTP/1.1\r\nhost: quvera.test\r\nconnection: close\r\ncontent-type: ${FORM}\r\n`
  const post = (pieces: number) =>
    say(app.url, `${head}transfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(pieces)}0\r\n\r\n`)
  expect(await post(3)).toMatch(/^HTTP\/1.1 400 /) // it is no order
  expect(await post(500)).toBe('') // its connection ends
})
