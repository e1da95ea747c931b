// A server that is killed while it sends mails loses no mail and sends none twice, and another server takes over.
import { expect, it } from 'vitest'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { sendOrders } from '../support/load.ts'
import { freePort } from '../support/server-process.ts'

const { setUp } = createFaultFixtures()

it('kills in the middle of sending send every mail once', async () => {
  const fixture = await setUp()
  const PORT = String(await freePort())
  fixture.resend.behaviour = { slowMs: 100 }
  let server = await fixture.start({ PORT, RESEND_API_KEY: '' })
  const load = await sendOrders({ url: () => server.url, orders: 200, concurrency: 16, retry: true })
  await server.stop()
  server = await fixture.start({ PORT })
  for (const sent of [60, 150, 250]) {
    await eventually(() => fixture.resend.mails.length >= sent && fixture.resend.calls.underWay > 0)
    await server.stop('SIGKILL')
    await fixture.inspect((db) => db.lease.updateMany({ data: { until: new Date(0) } })) // no wait for the killed sender
    server = await fixture.start({ PORT })
  }
  const result = await fixture.inspect((db) => audit(db, load, fixture.resend))
  const repeated = fixture.resend.calls.all - fixture.resend.mails.length
  report('3 kills while sending', { ...result, callsRepeated: repeated })
  expect(repeated).toBeGreaterThan(0)
  expectNothingLost(result)
})

it('two servers on one database share the orders, and the one that stays takes over', async () => {
  const fixture = await setUp()
  const servers = await Promise.all([fixture.start(), fixture.start()])
  let turn = 0
  const at = { 500: () => servers[1]?.stop('SIGKILL') }
  const load = await sendOrders({ url: () => servers[turn++ % 2]?.url ?? '', orders: 1000, retry: true, at })
  const result = await fixture.inspect((db) => audit(db, load, fixture.resend))
  const [stayed = 0, killedOne = 0] = servers.map((server) => load.acknowledgedBy.get(server.url))
  report('2 servers, one killed', { ...result, stayed, killedOne })
  expect(await servers[1]?.exited).toEqual({ code: null, signal: 'SIGKILL' })
  expect(result.acknowledged).toBe(1000)
  expect([...load.statuses.keys()].filter((status) => status !== 200 && status !== 0)).toEqual([]) // 0: no answer
  // Each took about half of the 500 orders before the kill.
  expect(killedOne).toBeGreaterThan(150)
  expect(stayed).toBeGreaterThan(150)
  expectNothingLost(result)
})
