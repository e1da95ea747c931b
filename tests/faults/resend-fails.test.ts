// No fault of Resend slows an order, the mails go out once Resend recovers.
import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import type { Behaviour } from '../support/fake-resend.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { percentile, sendOrders } from '../support/load.ts'

const { setUp } = createFaultFixtures()

const faults: Record<string, Behaviour> = {
  '429 with retry-after': { status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '1' } },
  '500': { status: 500, name: 'internal_server_error' },
  '401': { status: 401, name: 'invalid_api_key' },
  '403': { status: 403, name: 'validation_error' },
  HTML: 'html',
  reset: 'reset',
  hang: 'hang',
  slow: { slowMs: 1500 },
}

it('no fault of Resend slows an order, and all mails are out once it recovers', async () => {
  const fixture = await setUp()
  const server = await fixture.start()
  const burst = () => sendOrders({ url: () => server.url, orders: 300, concurrency: 8, retry: true })
  await burst()
  const baseline = percentile((await burst()).times, 0.99)
  const loads = []
  for (const [fault, behaviour] of Object.entries(faults)) {
    fixture.resend.behaviour = behaviour
    const load = await sendOrders({ url: () => server.url, orders: 300, concurrency: 8, retry: true })
    loads.push({ fault, p99: percentile(load.times, 0.99), acknowledged: load.acknowledged.size })
  }
  fixture.resend.behaviour = 'accept'
  const recovered = performance.now()
  await fixture.inspect(
    (db) => eventually(async () => (await db.mail.count({ where: { status: 'Pending' } })) === 0, 240_000), // a refused key pauses the sender for a minute
  )
  report('Resend fails', {
    baselineP99Ms: Math.round(baseline),
    p99Ms: Object.fromEntries(loads.map(({ fault, p99 }) => [fault, Math.round(p99)])),
    allMailsOutAfterMs: Math.round(performance.now() - recovered),
  })
  for (const { p99, acknowledged } of loads) {
    expect(acknowledged).toBe(300)
    expect(p99).toBeLessThan(Math.max(4 * baseline, 40))
  }
  const statuses = await fixture.inspect((db) => db.mail.groupBy({ by: ['status'], _count: true }))
  expect(statuses.map((row) => row.status)).toEqual(['Sent'])
  expect(new Set(fixture.resend.mails.map((mail) => mail.key)).size).toBe(fixture.resend.mails.length)
})
