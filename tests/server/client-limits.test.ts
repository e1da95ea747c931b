import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { messages } from '../../shared/order.ts'
import { anOrder, call, submit } from '../support/an-order.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const ORDERS_A_MINUTE = 4
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

let app: TestApp
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  app = await startTestApp({ mails: false, rateLimitMax: ORDERS_A_MINUTE, trustProxy: ['127.0.0.1'] })
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

/** The same by the form without scripts. */
async function subscribeByForm(address: string) {
  const answer = await fetch(`${app.url}/privacy-policy`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...from(address) },
    body: new URLSearchParams({ email: `a${++count}@shop.example` }),
  })
  return { status: answer.status, text: await answer.text() }
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

describe('addresses of IPv6', () => {
  it('share a limit by /64', async () => {
    const all = await statuses(ORDERS_A_MINUTE + 1, (index) => orderFrom(`2001:db8:0:1::${index + 1}`))
    expect(all).toEqual([...Array(ORDERS_A_MINUTE).fill(200), 429])
    expect(await orderFrom('2001:db8:0:2::1')).toBe(200)
  })

  it('share five times as much by /48', async () => {
    const all = await statuses(5 * ORDERS_A_MINUTE + 2, (index) => orderFrom(`2001:db8:0:${index.toString(16)}::1`))
    expect(all).toEqual([...Array(5 * ORDERS_A_MINUTE).fill(200), 429, 429])
    expect(await orderFrom('2001:db8:1::1')).toBe(200)
    vi.setSystemTime(Date.now() + MINUTE_MS)
    expect(await orderFrom('2001:db8:0:ff::1')).toBe(200)
  })

  it('that are refused by /64 use up nothing of the /48', async () => {
    await statuses(6 * ORDERS_A_MINUTE, () => orderFrom('2001:db8:0:1::1'))
    expect(await orderFrom('2001:db8:0:2::1')).toBe(200)
  })
})
