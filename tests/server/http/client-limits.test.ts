// A client may send a limited number of orders and subscriptions a minute and a day, with scripts and without.
// What is not stored does not count for the day.
import Fastify from 'fastify'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readEnv } from '../../../server/env.ts'
import { registerRateLimits } from '../../../server/http/limits.ts'
import { messages } from '../../../shared/order.ts'
import { anOrder, call, submit } from '../../support/an-order.ts'
import { atEnd } from '../../support/at-end.ts'
import { anApp, theApp } from '../../support/fixtures.ts'
import { press } from '../../support/your-enquiry.ts'

const ORDERS_A_MINUTE = 4
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

const app = await theApp({ mails: false, rateLimitMax: ORDERS_A_MINUTE, trustProxy: ['127.0.0.1'] })
/** Each test is another client, beside which there are others. */
let client = ''
let clients = 0
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  client = `203.0.113.${++clients}`
})
afterEach(() => void vi.useRealTimers())
const another = () => `198.51.100.${++clients}`
const pass = (ms: number) => void vi.advanceTimersByTime(ms)

const from = (address: string) => ({ 'x-forwarded-for': address })
const order = (address = client, url = app.url) => submit(url, anOrder(), from(address))
/** Counts for the minute, and stores nothing. */
const ask = () => submit(app.url, {}, from(client))
const subscribe = (email = `${crypto.randomUUID()}@shop.example`, address = client) =>
  call(app.url, 'subscription.subscribe', { email }, from(address))

/** The same without scripts. */
async function postForm(path: string, fields: Record<string, string>) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...from(client) }
  const init = { method: 'POST', redirect: 'manual', headers, body: new URLSearchParams(fields) } as const
  const answer = await fetch(app.url + path, init)
  return { status: answer.status, text: await answer.text() }
}
const subscribeByForm = () => postForm('/privacy-policy', { email: `${crypto.randomUUID()}@shop.example` })

/** The statuses of so many, one after the other. */
async function statuses(times: number, send: (index: number) => Promise<{ status: number }>) {
  const all: number[] = []
  for (let index = 0; index < times; index++) all.push((await send(index)).status)
  return all
}

it('subscriptions are three a day and client, with scripts and without, and no order is', async () => {
  expect(await statuses(3, (index) => (index === 1 ? subscribeByForm() : subscribe()))).toEqual([200, 303, 200])
  const refused = await subscribe()
  expect([refused.status, refused.message]).toEqual([429, messages.manySubscriptions])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000)
  pass(60 * MINUTE_MS)
  const form = await subscribeByForm()
  expect([form.status, form.text]).toEqual([429, expect.stringContaining(messages.manySubscriptions)])
  expect(await app.db.subscriber.count()).toBe(3)
  expect((await subscribe(undefined, another())).status).toBe(200)
  expect((await order()).status).toBe(200)
  pass(DAY_MS)
  expect((await subscribe()).status).toBe(200)
})

it('orders, and other addresses for them, are thirty minutes’ worth a day and client, refused in words of their own, and taken the next day', async () => {
  const { url } = await anApp({ mails: false, rateLimitMax: 1, trustProxy: ['127.0.0.1'] })
  let last = ''
  for (let minute = 0; minute < 29; minute++) {
    const { status, text } = await order(client, url)
    expect(status).toBe(200)
    last = JSON.parse(text).result.data.page.split('token=')[1]
    pass(MINUTE_MS)
  }
  const moveLast = () => press(url, last, 'email', { email: 'asha@right.example' }, from(client))
  expect((await moveLast()).status).toBe(303) // it sends a mail, as an order does
  pass(MINUTE_MS)
  expect((await moveLast()).status).toBe(429)
  const refused = await order(client, url)
  expect([refused.status, refused.message]).toEqual([429, messages.manyOrders])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000)
  expect((await order(another(), url)).status).toBe(200)
  pass(DAY_MS)
  expect((await order(client, url)).status).toBe(200)
})

it('over the limit of a minute an order is told of enquiries, and a subscription of requests, with scripts and without', async () => {
  await statuses(ORDERS_A_MINUTE, () => Promise.all([ask(), subscribe('nobody')]).then(([answer]) => answer))
  const tooMany = (what: string) => ({
    status: 429,
    message: expect.stringMatching(`^Too many ${what} in a short time`),
  })
  expect(await order()).toMatchObject(tooMany('enquiries'))
  expect(await subscribe()).toMatchObject(tooMany('requests'))
  expect((await postForm('/buy-now', { name: 'Asha' })).text).toContain('Too many enquiries')
  expect((await subscribeByForm()).text).toContain('Too many requests')
})

it('what is not stored counts for the limit of a minute, and not for that of a day', async () => {
  for (let minute = 0; minute < 31; minute++) {
    expect(await statuses(ORDERS_A_MINUTE + 1, ask)).toEqual([...Array(ORDERS_A_MINUTE).fill(400), 429])
    pass(MINUTE_MS)
  }
  expect((await order()).status).toBe(200)
  expect(await statuses(3, () => subscribe('nobody'))).toEqual([400, 400, 400])
  pass(MINUTE_MS)
  expect(await statuses(2, (index) => (index ? subscribe() : postForm('/', { email: 'nobody' })))).toEqual([400, 200])
})

it('an address that a client claims is ignored, unless a proxy in TRUST_PROXY says it', async () => {
  const { url } = await anApp({ mails: false, rateLimitMax: 1 })
  expect(await statuses(2, () => order(another(), url))).toEqual([200, 429])
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})

it('a limit of the day is not forgotten for thousands of other clients', async () => {
  const server = Fastify()
  atEnd(() => server.close())
  const limits = await registerRateLimits(server, { ...readEnv({}), RATE_LIMIT_MAX: 1 })
  const store = async () => ({})
  server.post('/', (request, reply) => limits.countIfSuccessful('mailToStranger', request, reply, store))
  const storeFrom = async (remoteAddress: string) => {
    const { statusCode: status } = await server.inject({ method: 'POST', url: '/', remoteAddress })
    return { status }
  }
  expect(await statuses(4, () => storeFrom(client))).toEqual([200, 200, 200, 429])
  for (let index = 0; index < 5100; index++) await storeFrom(`198.18.${index >> 8}.${index & 255}`)
  expect((await storeFrom(client)).status).toBe(429)
})

describe('a refused form', () => {
  const typed = { name: 'Asha', email: 'asha@shop.example', mobile: '12' }

  it('over the limit says to go back, as it was not read, and of a flood is answered without a page', async () => {
    const send = () => postForm('/buy-now', typed)
    expect((await send()).text).toContain('asha@shop.example')
    await statuses(ORDERS_A_MINUTE - 1, send)
    expect(JSON.parse((await send()).text)).toMatchObject({ order: { note: 'unread', values: {} } })
    const answers = await Promise.all(Array.from({ length: 10 * ORDERS_A_MINUTE }, send))
    expect(answers.at(-1)).toEqual({ status: 429, text: expect.stringMatching(/^Too many enquiries/) })
  })

  it('comes back with its own fields, each of them whole, and no other', async () => {
    const long = 'x'.repeat(5000)
    const { status, text } = await postForm('/', { ...typed, name: long, other: long })
    expect(status).toBe(400)
    expect(JSON.parse(text).order.values).toMatchObject({ ...typed, name: long })
    expect(text).not.toContain('other')
  })
})

it('addresses of IPv6 share a limit by /64', async () => {
  const all = await statuses(ORDERS_A_MINUTE + 1, (index) => order(`2001:db8:0:1::${index + 1}`))
  expect(all).toEqual([...Array(ORDERS_A_MINUTE).fill(200), 429])
  expect((await order('2001:db8:0:2::1')).status).toBe(200)
})

it('all addresses of a /48 have ten times the limit of one client', async () => {
  const one = (index: number) => order(`2001:db8:7:${index.toString(16)}::1`)
  const all = await statuses(10 * ORDERS_A_MINUTE + 1, one)
  expect(all).toEqual([...Array(10 * ORDERS_A_MINUTE).fill(200), 429])
  // Not even the last order that a /64 of its own would have.
  expect(await statuses(ORDERS_A_MINUTE, () => order('2001:db8:7:ffff::1'))).toEqual(Array(ORDERS_A_MINUTE).fill(429))
  expect((await order('2001:db8:8::1')).status).toBe(200)
})

it('a clock that was a day ahead for a while limits nobody once it is right', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] })
  vi.setSystemTime(Date.now() + DAY_MS)
  await statuses(3, () => subscribe())
  vi.setSystemTime(Date.now() - DAY_MS)
  pass(DAY_MS)
  expect((await subscribe()).status).toBe(200)
})
