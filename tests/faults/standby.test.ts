import { expect, it } from 'vitest'
import { submit } from '../support/an-order.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { createStages, report } from '../support/fault-stage.ts'
import { startForwarder } from '../support/forwarder.ts'
import { aUniqueOrder, sendOrders } from '../support/load.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { administer } from '../support/test-database.ts'

const { setUp, postgres } = createStages()

it('PostgreSQL killed under load, its synchronous standby promoted behind the same address: nothing lost, served again within 5 s', async () => {
  const stage = await setUp()
  const standby = await startPostgresServer(postgres())
  const forwarder = await startForwarder(Number(new URL(stage.databaseUrl).port))
  try {
    await administer(postgres().url, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    await administer(postgres().url, 'SELECT pg_reload_conf()')
    const at = (port: string | number) => Object.assign(new URL(stage.databaseUrl), { port: String(port) }).href
    const server = await stage.start({ DATABASE_URL: at(forwarder.port) })
    await eventually(() =>
      stage.inspect(async (db) =>
        expect(await db.$queryRaw`SELECT sync_state FROM pg_stat_replication`).toEqual([{ sync_state: 'sync' }]),
      ),
    )
    let killedAt = 0
    let [isKilled, downMs] = [false, 0]
    let takeover: Promise<unknown> | undefined
    const load = await sendOrders({
      url: () => server.url,
      orders: 1000,
      concurrency: 32,
      retry: true,
      onAnswer(count) {
        if (count === 300) takeover = promoteStandby()
        if (isKilled && downMs === 0) downMs = performance.now() - killedAt
      },
    })
    await takeover
    expect((await submit(server.url, aUniqueOrder())).status).toBe(200)
    const result = await stage.inspect((db) => audit(db, load, stage.resend), at(forwarder.port))
    report('standby promoted', { ...result, downMs: Math.round(downMs), refused: load.statuses.get(503) ?? 0 })
    expect([...load.statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect(result.acknowledged).toBe(1000)
    expectNothingLost(result)
    expect(downMs).toBeLessThan(5000)

    async function promoteStandby() {
      killedAt = performance.now()
      await postgres().kill()
      isKilled = true
      forwarder.leadTo(Number(new URL(standby.url).port))
      await administer(standby.url, 'SELECT pg_promote()')
    }
  } finally {
    forwarder.close()
    await standby.close()
  }
})
