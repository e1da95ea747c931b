// A killed process takes no acknowledged order with it, and no mail goes out twice.
import { expect, it } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { aClient } from '../support/a-client.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { callDesk, enterDesk } from '../support/desk.ts'
import { eventually } from '../support/eventually.ts'
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

it('a kill between the commit of a change at the desk and its answer: the same press again is the same change', async () => {
  const fixture = await setUp()
  const PORT = String(await freePort())
  const server = await fixture.start({ PORT, RESEND_API_KEY: '' })
  const { reference = '' } = await submit(server.url, anOrder())
  const cookie = await fixture.inspect((db) => enterDesk({ url: server.url, db }))
  const call = () => callDesk(server.url, cookie, 'addCall', { key, reference })
  const key = crypto.randomUUID()
  const entries = (db: Db) => db.historyEntry.count({ where: { key } })
  await fixture.inspect(async (db) => {
    // The change touches no mail, and the row that answers it does.
    const client = await aClient({ DATABASE_URL: fixture.databaseUrl })
    await client.query('BEGIN; LOCK TABLE "Quvera_Mail" IN ACCESS EXCLUSIVE MODE')
    const lost = call().catch(() => 'no answer')
    await eventually(async () => expect(await entries(db)).toBe(1))
    await server.stop('SIGKILL')
    expect(await lost).toBe('no answer')
    await client.query('ROLLBACK')
    await fixture.start({ PORT, RESEND_API_KEY: '' })
    const again = await call()
    expect([again.status, again.data]).toMatchObject([200, [{ reference, calls: 1 }]])
    expect(await entries(db)).toBe(1)
  })
})
