// A killed or frozen database loses no order: a refusal comes within 3 seconds, and a repeated order is stored once.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Order } from '../../shared/order.ts'
import { submit } from '../support/an-order.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
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
    const { slowest, refused } = await refuseForTenSeconds(server)
    await (fault === 'killed' ? postgres().start() : postgres().thaw())
    const back = performance.now()
    await eventually(async () => (await submit(server.url, aUniqueOrder())).status === 200)
    const recoveryMs = performance.now() - back
    const storedOf = () =>
      fixture.inspect((db) =>
        db.enquiry.count({ where: { submissionKey: { in: refused.map(({ submissionKey }) => submissionKey) } } }),
      )
    const storedAllTheSame = await storedOf()
    const again = await Promise.all(refused.map((order) => submit(server.url, order)))
    report(`database ${fault} for 10 s`, {
      slowestAnswerMs: Math.round(slowest),
      recoveryMs: Math.round(recoveryMs),
      refused: refused.length,
      storedAllTheSame,
    })
    expect(new Set(again.map(({ reference }) => reference)).size).toBe(refused.length)
    expect(await storedOf()).toBe(refused.length)
    expect(slowest).toBeLessThan(3000)
    expect(recoveryMs).toBeLessThan(2000)
    await eventually(async () => (await fetch(`${server.url}/readyz`)).status === 200)
    const errors = server
      .stdout()
      .split('\n')
      .filter((line) => /"level":(50|"error")/.test(line))
    expect(errors).toHaveLength(1)
    expect(JSON.parse(errors[0] ?? '')).toMatchObject({ cause: expect.stringMatching(/^\w+$/) })
  },
)

async function refuseForTenSeconds(server: ServerProcess): Promise<{ slowest: number; refused: Order[] }> {
  const end = Date.now() + 10_000
  let slowest = 0
  const refused: Order[] = []
  while (Date.now() < end) {
    const start = performance.now()
    const orders = Array.from({ length: 40 }, aUniqueOrder)
    const answers = await Promise.all(orders.map((order) => submit(server.url, order)))
    refused.push(...orders)
    slowest = Math.max(slowest, performance.now() - start)
    for (const answer of answers) expect([answer.status, answer.message]).toEqual([503, 'Error adding document'])
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    const ready = performance.now()
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
    slowest = Math.max(slowest, performance.now() - ready)
    await sleep(200)
  }
  return { slowest, refused }
}
