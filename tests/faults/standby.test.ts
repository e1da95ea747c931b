// An order is confirmed only once the synchronous standby has it, and the promotion of the standby loses nothing.
import { expect, it } from 'vitest'
import { anOrder, postForm, submit } from '../support/an-order.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { startForwarder } from '../support/forwarder.ts'
import { aUniqueOrder, sendOrders } from '../support/load.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { administer } from '../support/test-database.ts'

const { setUp, postgres } = createFaultFixtures()

async function setStandbys(setting: string) {
  await administer(postgres().url, `ALTER SYSTEM ${setting}`)
  await administer(postgres().url, 'SELECT pg_reload_conf()')
}

it('an order that the synchronous standby does not have is not confirmed, also when it is repeated after the primary was restarted', async () => {
  const fixture = await setUp()
  const server = await fixture.start({ RESEND_API_KEY: '' })
  const standby = await startPostgresServer(postgres())
  try {
    await setStandbys("SET synchronous_standby_names = '*'")
    await eventually(async () => (await submit(server.url, anOrder())).status === 200)
    await standby.freeze()
    const order = anOrder()
    const form = { ...anOrder({ name: 'Without scripts' }), submissionKey: '' }
    const send = () =>
      Promise.all([submit(server.url, order), postForm(server.url, form)].map(async (sent) => (await sent).status))
    const before = await fixture.inspect((db) => db.enquiry.count())
    expect(await send()).toEqual([503, 503])
    await postgres().kill()
    await postgres().start()
    const stored = () => fixture.inspect((db) => db.enquiry.count())
    await eventually(async () => expect(await stored()).toBe(before + 2))
    for (let tries = 0; tries < 2; tries++) expect(await send()).toEqual([503, 503])
    await standby.thaw()
    await eventually(async () => expect(await send()).toEqual([200, 303]))
    expect(await stored()).toBe(before + 2)
  } finally {
    await standby.close()
    await setStandbys('RESET synchronous_standby_names')
  }
})

it('PostgreSQL killed under load, its synchronous standby promoted behind the same address: nothing lost, served again within 5 s', async () => {
  const fixture = await setUp()
  const standby = await startPostgresServer(postgres())
  const forwarder = await startForwarder(Number(new URL(fixture.databaseUrl).port))
  try {
    await setStandbys("SET synchronous_standby_names = '*'")
    const at = (port: string | number) => Object.assign(new URL(fixture.databaseUrl), { port: String(port) }).href
    const server = await fixture.start({ DATABASE_URL: at(forwarder.port) })
    await eventually(() =>
      fixture.inspect(async (db) =>
        expect(await db.$queryRaw`SELECT sync_state FROM pg_stat_replication`).toEqual([{ sync_state: 'sync' }]),
      ),
    )
    let downMs = Number.NaN
    async function promoteStandby() {
      const killedAt = performance.now()
      await postgres().kill()
      forwarder.leadTo(Number(new URL(standby.url).port))
      await administer(standby.url, 'SELECT pg_promote()')
      await eventually(async () => (await submit(server.url, aUniqueOrder())).status === 200)
      downMs = performance.now() - killedAt
    }
    const load = await sendOrders({ url: () => server.url, orders: 1000, retry: true, at: { 300: promoteStandby } })
    const result = await fixture.inspect((db) => audit(db, load, fixture.resend), at(forwarder.port))
    report('standby promoted', { ...result, downMs: Math.round(downMs), refused: load.statuses.get(503) ?? 0 })
    expect([...load.statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect(result.acknowledged).toBe(1000)
    expectNothingLost(result)
    expect(downMs).toBeLessThan(5000)
  } finally {
    forwarder.close()
    await standby.close()
  }
})
