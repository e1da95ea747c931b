// Request bodies that are too large or too many are refused before they are read, and the room they took is given back.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const FORM = 'application/x-www-form-urlencoded'
const ORDERS_A_MINUTE = 4

let app: TestApp
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await app?.close()
})

/** Begins a request whose body never comes whole. Returns the status line of the answer, '' until there is one. */
async function begin(path: string, length: number, headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(app.url)
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
  app = await startTestApp({ mails: false, rateLimitMax: ORDERS_A_MINUTE })
  const statuses = await beginMany(ORDERS_A_MINUTE + 3, () => begin('/buy-now', 1000, { 'content-type': FORM }))
  await eventually(() => expect(statuses()).toEqual([...Array(ORDERS_A_MINUTE).fill(''), '429', '429', '429']))
})

it.each([
  ['/buy-now', FORM],
  ['/trpc/order.submit', 'application/json'],
  ['/webhooks/resend', 'application/json'],
])('a body of more than 16 kB is refused before it is read: %s', async (path, type) => {
  app = await startTestApp({ mails: false, webhookSecret: 'whsec_c2VjcmV0' })
  const signed = { 'svix-id': '1', 'svix-timestamp': '1', 'svix-signature': 'v1,x' }
  const status = await begin(path, 16 * 1024 + 1, { 'content-type': type, ...signed })
  await eventually(() => expect(status()).toBe('413'))
})

it.each(['/nowhere', '/healthz'])('a body that no route takes is not read: %s', async (path) => {
  app = await startTestApp({ mails: false })
  const status = await begin(path, 1000, { 'content-type': 'application/json' })
  await eventually(() => expect(status()).toBe('404'))
})

it('the bodies of all clients together take 8 MB at most; then orders are taken again', async () => {
  app = await startTestApp({ mails: false })
  const statuses = await beginMany(8 * 64 + 3, () => begin('/buy-now', 16 * 1024, { 'content-type': FORM }))
  await eventually(() => expect(statuses()).toEqual([...Array(8 * 64).fill(''), '503', '503', '503']))
  expect((await submit(app.url, anOrder())).status).toBe(503)
  for (const socket of sockets.splice(0)) socket.destroy()
  await eventually(async () => expect((await submit(app.url, anOrder())).status).toBe(200))
})

it('requests behind a slow one of a connection that is reset give their room back', async () => {
  app = await startTestApp({ mails: false })
  const { hostname, port } = new URL(app.url)
  const post = (body: string) =>
    `POST /trpc/order.submit HTTP/1.1\r\nhost: quvera.test\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const refused = post(JSON.stringify({ name: 'A'.repeat(16_000) }))
  await app.db.$transaction(async (transaction) => {
    await transaction.$executeRaw`LOCK TABLE "Quvera_Form"`
    const connections = Array.from({ length: 70 }, () => connect(Number(port), hostname).on('error', () => {}))
    sockets.push(...connections)
    await Promise.all(connections.map((socket) => once(socket, 'connect')))
    for (const socket of connections) socket.write(post(JSON.stringify(anOrder())) + refused.repeat(8))
    await eventually(async () => expect((await submit(app.url, { name: 'A'.repeat(16_000) })).status).toBe(503))
    for (const socket of connections) socket.resetAndDestroy()
  })
  await eventually(async () => expect((await submit(app.url, anOrder())).status).toBe(200), 10_000)
  expect((await submit(app.url, { name: 'A'.repeat(16_000) })).status).toBe(400)
})

it('an event of Resend without a signature is refused before its body is read', async () => {
  app = await startTestApp({ mails: false, webhookSecret: 'whsec_c2VjcmV0' })
  const status = await begin('/webhooks/resend', 1000, { 'content-type': 'application/json' })
  await eventually(() => expect(status()).toBe('400'))
})

it('a flood of events takes no memory from orders', async () => {
  app = await startTestApp({ mails: false, webhookSecret: 'whsec_c2VjcmV0' })
  const signed = { 'svix-id': '1', 'svix-timestamp': '1', 'svix-signature': 'v1,x' }
  const statuses = await beginMany(2 * 64 + 3, () => begin('/webhooks/resend', 16 * 1024, signed))
  await eventually(() => expect(statuses().slice(-3)).toEqual(['503', '503', '503']))
  expect((await submit(app.url, anOrder())).status).toBe(200)
})

it('a form with more fields than any of ours is refused, and its fields are not read', async () => {
  app = await startTestApp({ mails: false })
  const post = (body: string) =>
    fetch(`${app.url}/buy-now`, { method: 'POST', headers: { 'content-type': FORM }, body })
  expect((await post('&'.repeat(8000))).status).toBe(413)
  expect((await post('name=A&'.repeat(49))).status).toBe(400)
})
