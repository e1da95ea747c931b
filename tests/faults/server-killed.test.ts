// A killed process takes no acknowledged order with it, and no mail goes out twice.
import { expect, it } from 'vitest'
import { audit, expectNothingLost } from '../support/audit.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { sendOrders } from '../support/load.ts'
import { freePort } from '../support/server-process.ts'

const { setUp } = createFaultFixtures()

it('three kills during 1,200 orders whose clients repeat them lose and double nothing', async () => {
  const fixture = await setUp()
  const PORT = String(await freePort())
  let server = await fixture.start({ PORT })
  let kills = 0
  async function kill() {
    kills++
    await server.stop('SIGKILL')
    server = await fixture.start({ PORT })
  }
  const at = { 200: kill, 520: kill, 880: kill }
  const load = await sendOrders({ url: () => server.url, orders: 1200, retry: true, at })
  const result = await fixture.inspect((db) => audit(db, load, fixture.resend))
  report('3 kills, clients repeat', result)
  expect(kills).toBe(3)
  expect(result.acknowledged).toBe(1200)
  expectNothingLost(result)
})

it('a kill whose clients give up loses no answered order, and mails every stored one', async () => {
  const fixture = await setUp()
  const PORT = String(await freePort())
  const server = await fixture.start({ PORT })
  const at = { 200: () => server.stop('SIGKILL') }
  const load = await sendOrders({ url: () => server.url, orders: 500, retry: false, at })
  await fixture.start({ PORT })
  const result = await fixture.inspect((db) => audit(db, load, fixture.resend))
  report('kill, clients give up', result)
  expect(result.acknowledged).toBeLessThan(500)
  expect(result.stored).toBeGreaterThanOrEqual(result.acknowledged)
  expectNothingLost(result)
})
