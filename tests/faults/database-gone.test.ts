// A database that is killed, frozen or asleep loses no order: a refusal comes within 3 seconds, a repeat is stored once.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { messages, type Order } from '../../shared/order.ts'
import { submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { startForwarder } from '../support/forwarder.ts'
import { aUniqueOrder, sendOrders } from '../support/load.ts'
import type { ServerProcess } from '../support/server-process.ts'

const { setUp, postgres } = createFaultFixtures()

it('PostgreSQL killed and started again under load costs nothing, and the server process stays', async () => {
  const fixture = await setUp()
  const server = await fixture.start()
  async function outage() {
    await postgres().kill()
    await postgres().start()
  }
  const load = await sendOrders({ url: () => server.url, orders: 2000, retry: true, at: { 600: outage } })
  const result = await fixture.inspect((db) => audit(db, load, fixture.resend))
  report('PostgreSQL killed', { ...result, refused: load.statuses.get(503) ?? 0 })
  expect(server.process.exitCode).toBeNull()
  expect(result.acknowledged).toBe(2000)
  expect([...load.statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([])
  expectNothingLost(result)
})

it.each(['killed', 'frozen'])(
  'ten seconds with the database %s: 503 in words within 3 s, work again within 2 s, and each sent again is stored once',
  async (fault) => {
    const fixture = await setUp()
    const server = await fixture.start()
    expect((await submit(server.url, aUniqueOrder())).status).toBe(200)
    const countSent = () => fixture.inspect((db) => db.mail.count({ where: { status: 'Sent' } }))
    await eventually(async () => expect(await countSent()).toBe(2)) // so that nothing is under way
    await (fault === 'killed' ? postgres().kill() : postgres().freeze())
    await eventually(() => expect(server.stdout()).toContain('enquiries cannot be stored')) // before an order meets it
    const { slowestMs, refused } = await refuseForTenSeconds(server)
    await (fault === 'killed' ? postgres().start() : postgres().thaw())
    const back = performance.now()
    await eventually(async () => (await submit(server.url, aUniqueOrder())).status === 200)
    const recoveryMs = Math.round(performance.now() - back)
    const again = await Promise.all(refused.map((order) => submit(server.url, order)))
    report(`database ${fault} for 10 s`, { slowestMs, recoveryMs, refused: refused.length })
    expect(new Set(again.map(({ reference }) => reference)).size).toBe(refused.length)
    const keys = refused.map(({ submissionKey }) => submissionKey)
    const stored = await fixture.inspect((db) => db.enquiry.count({ where: { submissionKey: { in: keys } } }))
    expect(stored).toBe(refused.length)
    expect(slowestMs).toBeLessThan(3000)
    expect(recoveryMs).toBeLessThan(2000)
    await eventually(async () => (await fetch(`${server.url}/readyz`)).status === 200)
    expect(server.stdout().match(/"level":(50|"error")/g)).toHaveLength(1)
  },
)

async function refuseForTenSeconds(server: ServerProcess): Promise<{ slowestMs: number; refused: Order[] }> {
  const end = Date.now() + 10_000
  let slowestMs = 0
  const refused: Order[] = []
  /** Measures how long the answer takes. */
  async function timed<T>(answer: Promise<T>): Promise<T> {
    const start = performance.now()
    const answered = await answer
    slowestMs = Math.max(slowestMs, Math.round(performance.now() - start))
    return answered
  }
  while (Date.now() < end) {
    const orders = Array.from({ length: 40 }, aUniqueOrder)
    refused.push(...orders)
    for (const answer of await timed(Promise.all(orders.map((order) => submit(server.url, order)))))
      expect([answer.status, answer.message]).toEqual([503, messages.failed])
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    expect((await timed(fetch(`${server.url}/readyz`))).status).toBe(503)
    await sleep(200)
  }
  return { slowestMs, refused }
}

it('an order whose connection ends under it, at a database that then needs three seconds to wake, is stored once', async () => {
  const { databaseUrl, start, inspect } = await setUp()
  const order = aUniqueOrder()
  let inserts = 0
  const forwarder = await startForwarder(Number(new URL(databaseUrl).port), (bytes) => {
    if (bytes.includes(order.submissionKey) && inserts++ === 0) forwarder.sleepUntilAsked(3000)
    return bytes
  })
  atEnd(forwarder.close)
  const { href } = Object.assign(new URL(databaseUrl), { port: String(forwarder.port) })
  const server = await start({ DATABASE_URL: href, RESEND_API_KEY: '' })
  const said = server.stdout()
  const { status, reference } = await submit(server.url, order)
  expect(status).toBe(200)
  expect(inserts).toBeGreaterThan(1) // whether or not the first one reached the server
  expect(await submit(server.url, order)).toMatchObject({ status: 200, reference })
  expect(await inspect(async (db) => [await db.enquiry.count(), await db.mail.count()])).toEqual([1, 2])
  expect(server.stdout()).toBe(said)
})
