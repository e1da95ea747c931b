// No fault of Resend slows an order, and the mails go out once Resend recovers or are shown as failed.
import { expect, it } from 'vitest'
import { readBacklog } from '../../server/mail/backlog.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import type { Behaviour } from '../support/fake-resend.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { percentile, sendOrders } from '../support/load.ts'
import { freePort } from '../support/server-process.ts'

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
  await fixture.inspect((db) =>
    eventually(async () => (await db.mail.count({ where: { status: 'Pending' } })) === 0, 120_000),
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

it('a mail that is refused for ever is given up and shown, and the others go out', async () => {
  const fixture = await setUp()
  const server = await fixture.start()
  fixture.resend.behaviour = { status: 422, name: 'validation_error' }
  await sendOrders({ url: () => server.url, orders: 5, concurrency: 1, retry: true })
  await fixture.inspect((db) => eventually(async () => (await db.mail.count({ where: { status: 'Failed' } })) === 10))
  fixture.resend.behaviour = 'accept'
  await sendOrders({ url: () => server.url, orders: 20, concurrency: 4, retry: true })
  await fixture.inspect((db) => eventually(async () => (await db.mail.count({ where: { status: 'Sent' } })) === 40))
  const mail = await fixture.inspect(readBacklog)
  report('422', mail)
  expect(mail).toMatchObject({ failed: 10, pending: 0 })
  const isRefused = { status: 'Failed' as const, lastError: { contains: '422 validation_error' } }
  expect(await fixture.inspect((db) => db.mail.count({ where: isRefused }))).toBe(10)
})

it('a limit of ten a second is learnt with under a tenth of the calls refused', async () => {
  const fixture = await setUp()
  fixture.resend.behaviour = { limitASecond: 10 }
  const server = await fixture.start()
  const load = await sendOrders({ url: () => server.url, orders: 40, concurrency: 8, retry: true })
  const start = performance.now()
  const result = await fixture.inspect((db) => audit(db, load, fixture.resend, 90_000))
  const { all, limited } = fixture.resend.calls
  report('Resend limited to 10/s', {
    calls: all,
    refused: limited,
    seconds: Math.round((performance.now() - start) / 1000),
  })
  expect(limited).toBeLessThan(all * 0.1)
  expectNothingLost(result)
})

it('a mail that waits for more than 15 minutes is warned of and shown to staff', async () => {
  const fixture = await setUp()
  const port = String(await freePort())
  const server = await fixture.start({ RESEND_API_KEY: '', METRICS_PORT: port })
  await sendOrders({ url: () => server.url, orders: 1, concurrency: 1, retry: true })
  await fixture.inspect((db) => db.mail.updateMany({ data: { dueAt: new Date(Date.now() - 16 * 60_000) } }))
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(metrics).toContain('quvera_mails{state="pending"} 2\n')
  expect(Number(/^quvera_mail_oldest_pending_seconds (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(900)
  await server.stop()
  const again = await fixture.start({ RESEND_API_KEY: '' })
  await eventually(() => expect(again.stdout()).toContain('mails wait longer than they should'))
})
