// Three servers behind a proxy share the orders, and lose none when they are restarted in turn.
import { expect, it } from 'vitest'
import type { Order } from '../../shared/order.ts'
import { atEnd } from '../support/at-end.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { createFaultFixtures, type FaultFixture, report } from '../support/fault-fixtures.ts'
import { sendOrders } from '../support/load.ts'
import { startProxy } from '../support/round-robin-proxy.ts'
import { freePort } from '../support/server-process.ts'

const { setUp } = createFaultFixtures()

/** Three servers on one database behind a proxy. */
async function behindProxy(fixture: FaultFixture) {
  const ports = await Promise.all(Array.from({ length: 3 }, async () => String(await freePort())))
  const settings = { TRUST_PROXY: '127.0.0.1' }
  const servers = await Promise.all(ports.map((PORT) => fixture.start({ PORT, ...settings })))
  const proxy = await startProxy(servers.map((server) => server.url))
  atEnd(proxy.close)
  return {
    proxy,
    servers,
    async restart(index: number) {
      await servers[index]?.stop()
      servers[index] = await fixture.start({ PORT: ports[index] ?? '', ...settings })
    },
  }
}

it('three servers share the orders, and a rolling restart costs none', async () => {
  const fixture = await setUp()
  const { proxy, servers, restart } = await behindProxy(fixture)
  let rolled = false
  const rolling = (async () => {
    for (const index of servers.keys()) await restart(index)
    rolled = true
  })()
  const load = { sent: [] as Order[], acknowledged: new Map<string, string>() }
  const statuses = new Set<number>()
  while (!rolled) {
    const part = await sendOrders({ url: () => proxy.url, orders: 100, concurrency: 4, retry: false })
    load.sent.push(...part.sent)
    for (const [key, reference] of part.acknowledged) load.acknowledged.set(key, reference)
    for (const status of part.statuses.keys()) statuses.add(status)
  }
  await rolling
  const result = await fixture.inspect((db) => audit(db, load, fixture.resend))
  report('rolling restart of three replicas', { ...result, answers: [...proxy.answers.values()] })
  expect([...statuses]).toEqual([200])
  expect(proxy.answers.size).toBe(3)
  expectNothingLost(result)
})
