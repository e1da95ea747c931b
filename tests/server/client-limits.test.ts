// A client may send a limited number of orders and subscriptions a minute and a day, with scripts and without.
// What is not stored does not count for the day.
import Fastify from 'fastify'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readEnv } from '../../server/env.ts'
import { registerRateLimits } from '../../server/http/rate-limit.ts'
import { messages } from '../../shared/order.ts'
import { anOrder, call, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const ORDERS_A_MINUTE = 4
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

const anApp = (rateLimitMax: number) => startTestApp({ mails: false, rateLimitMax, trustProxy: ['127.0.0.1'] })

let app: TestApp
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  app = await anApp(ORDERS_A_MINUTE)
})
afterEach(async () => {
  vi.useRealTimers()
  await app.close()
})

let count = 0
const from = (address: string) => ({ 'x-forwarded-for': address })
const orderFrom = async (address: string) => (await submit(app.url, anOrder(), from(address))).status
const subscribeFrom = (address: string) =>
  call(app.url, 'subscription.subscribe', { email: `a${++count}@shop.example` }, from(address))

/** Counts for the minute, and stores nothing. */
const askFrom = async (address: string) => (await submit(app.url, {}, from(address))).status

async function postForm(path: string, fields: Record<string, string>, address: string) {
  const answer = await fetch(app.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...from(address) },
    body: new URLSearchParams(fields),
  })
  return { status: answer.status, text: await answer.text() }
}

/** The same by the form without scripts. */
const subscribeByForm = (address: string) => postForm('/privacy-policy', { email: `a${++count}@shop.example` }, address)

function orderFields() {
  const { submissionKey: _, ...fields } = anOrder()
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))
}

async function statuses(times: number, status: (index: number) => Promise<number>) {
  const all: number[] = []
  for (let index = 0; index < times; index++) all.push(await status(index))
  return all
}

describe('subscriptions', () => {
  it('are three a day and client, with scripts and without, and no order is', async () => {
    expect((await subscribeFrom('203.0.113.1')).status).toBe(200)
    expect((await subscribeByForm('203.0.113.1')).status).toBe(303)
    expect((await subscribeFrom('203.0.113.1')).status).toBe(200)
    const refused = await subscribeFrom('203.0.113.1')
    expect([refused.status, refused.message]).toEqual([429, messages.manySubscriptions])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000)
    vi.setSystemTime(Date.now() + MINUTE_MS)
    const form = await subscribeByForm('203.0.113.1')
    expect([form.status, form.text]).toEqual([429, expect.stringContaining(messages.manySubscriptions)])
    expect(await app.db.subscriber.count()).toBe(3)
    expect((await subscribeFrom('203.0.113.2')).status).toBe(200)
    expect(await orderFrom('203.0.113.1')).toBe(200)
  })

  it('are refused an hour later too, and taken the next day', async () => {
    await statuses(3, async () => (await subscribeFrom('203.0.113.1')).status)
    vi.setSystemTime(Date.now() + 60 * MINUTE_MS)
    expect((await subscribeFrom('203.0.113.1')).status).toBe(429)
    vi.setSystemTime(Date.now() + DAY_MS)
    expect((await subscribeFrom('203.0.113.1')).status).toBe(200)
  })
})

describe('over the limit of a minute', () => {
  it('an order is told of enquiries, and a subscription of requests, with scripts and without', async () => {
    const orderByForm = (address: string) => postForm('/buy-now', orderFields(), address)
    const subscribe = () => call(app.url, 'subscription.subscribe', { email: 'nobody' }, from('203.0.113.1'))
    for (let count = 0; count < ORDERS_A_MINUTE; count++) await Promise.all([askFrom('203.0.113.1'), subscribe()])
    const order = await submit(app.url, anOrder(), from('203.0.113.1'))
    expect(order).toMatchObject({ status: 429, message: expect.stringMatching(/^Too many enquiries in a short time/) })
    const subscription = await subscribe()
    expect(subscription).toMatchObject({ status: 429, message: expect.stringMatching(/^Too many requests in a short/) })
    expect((await orderByForm('203.0.113.1')).text).toContain('Too many enquiries')
    expect((await subscribeByForm('203.0.113.1')).text).toContain('Too many requests')
    // The pages with both forms: neither was read, and the address tells which it was.
    const refused = async (path: string) => Object.keys(JSON.parse((await postForm(path, {}, '203.0.113.1')).text))
    expect([await refused('/'), await refused('/?subscribe')]).toEqual([['order'], ['refusedSubscription']])
  })
})

describe('orders, of which one a minute is taken', () => {
  beforeEach(async () => {
    await app.close()
    app = await anApp(1)
  })

  it('are thirty minutes’ worth a day and client, refused in words of their own, and taken the next day', async () => {
    for (let minute = 0; minute < 30; minute++) {
      expect(await orderFrom('203.0.113.1')).toBe(200)
      vi.setSystemTime(Date.now() + MINUTE_MS)
    }
    const refused = await submit(app.url, anOrder(), from('203.0.113.1'))
    expect([refused.status, refused.message]).toEqual([429, messages.manyOrders])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000)
    expect(await orderFrom('203.0.113.2')).toBe(200)
    vi.setSystemTime(Date.now() + DAY_MS)
    expect(await orderFrom('203.0.113.1')).toBe(200)
  })
})

describe('what is not stored', () => {
  it('counts for the limit of a minute, and not for that of a day', async () => {
    for (let minute = 0; minute < 31; minute++) {
      expect(await statuses(ORDERS_A_MINUTE, () => askFrom('203.0.113.1'))).toEqual(Array(ORDERS_A_MINUTE).fill(400))
      expect(await askFrom('203.0.113.1')).toBe(429)
      vi.setSystemTime(Date.now() + MINUTE_MS)
    }
    expect(await orderFrom('203.0.113.1')).toBe(200)
  })

  it('such as three invalid addresses, does not count for the subscriptions of the day', async () => {
    const refused = () => call(app.url, 'subscription.subscribe', { email: 'nobody' }, from('203.0.113.1'))
    expect(await statuses(3, async () => (await refused()).status)).toEqual([400, 400, 400])
    expect((await subscribeFrom('203.0.113.1')).status).toBe(200)
    vi.setSystemTime(Date.now() + MINUTE_MS)
    expect((await postForm('/', { email: 'nobody' }, '203.0.113.1')).status).toBe(400)
    expect((await subscribeByForm('203.0.113.1')).status).toBe(303)
  })
})

it('an address that a client claims is ignored, unless a proxy in TRUST_PROXY says it', async () => {
  const server = await startTestApp({ mails: false, rateLimitMax: 1 })
  atEnd(server.close)
  const statusFrom = async (address: string) => (await submit(server.url, anOrder(), from(address))).status
  expect([await statusFrom('203.0.113.1'), await statusFrom('203.0.113.2')]).toEqual([200, 429])
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})

describe('a limit of the day', () => {
  it('is not forgotten for thousands of other clients', async () => {
    const server = Fastify()
    atEnd(() => server.close())
    const limits = await registerRateLimits(server, { ...readEnv({}), RATE_LIMIT_MAX: 1 })
    const store = async () => ({})
    server.post('/', (request, reply) => limits.countIfSuccessful('subscription', request, reply, store))
    const storeFrom = async (remoteAddress: string) =>
      (await server.inject({ method: 'POST', url: '/', remoteAddress })).statusCode
    expect(await statuses(4, () => storeFrom('203.0.113.1'))).toEqual([200, 200, 200, 429])
    for (let index = 0; index < 5100; index++) await storeFrom(`198.18.${index >> 8}.${index & 255}`)
    expect(await storeFrom('203.0.113.1')).toBe(429)
  })
})

describe('the page that follows an order', () => {
  it('shows its reference also over the limit', async () => {
    const look = async () => {
      const answer = await fetch(`${app.url}/received?reference=QV-234567`, { headers: from('203.0.113.1') })
      return [answer.status, await answer.text()]
    }
    for (let times = 0; times < 60; times++) await look()
    expect(await look()).toEqual([200, JSON.stringify({ received: { reference: 'QV-234567' } })])
    for (let times = 61; times < 660; times++) await look()
    expect((await look())[0]).toBe(429)
  })
})

describe('a refused form', () => {
  const typed = { name: 'Asha', email: 'asha@shop.example', mobile: '12' }

  it('over the limit says to go back, as it was not read, and of a flood is answered without a page', async () => {
    const send = () => postForm('/buy-now', typed, '203.0.113.1')
    expect((await send()).text).toContain('asha@shop.example')
    for (let count = 1; count < ORDERS_A_MINUTE; count++) await send()
    expect(JSON.parse((await send()).text)).toMatchObject({ order: { note: 'unread', values: {} } })
    const answers = await Promise.all(Array.from({ length: 10 * ORDERS_A_MINUTE }, send))
    expect(answers.at(-1)).toEqual({ status: 429, text: expect.stringMatching(/^Too many enquiries/) })
  })

  it('comes back with its own fields, each of them whole', async () => {
    const long = 'x'.repeat(5000)
    const { status, text } = await postForm('/', { ...typed, name: long, other: long, website: long }, '203.0.113.1')
    expect(status).toBe(400)
    expect(text).toContain('asha@shop.example')
    expect(text).toMatch(/"x{5000}"/)
    expect(text.length).toBeLessThan(7000)
  })
})

describe('addresses of IPv6', () => {
  it('share a limit by /64', async () => {
    const all = await statuses(ORDERS_A_MINUTE + 1, (index) => orderFrom(`2001:db8:0:1::${index + 1}`))
    expect(all).toEqual([...Array(ORDERS_A_MINUTE).fill(200), 429])
    expect(await orderFrom('2001:db8:0:2::1')).toBe(200)
  })
})
