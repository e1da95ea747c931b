// The cluster of docs/failover.md loses and doubles no confirmed order when leaders, a standby and a site are killed.
// The test needs Patroni, etcd and HAProxy.
import { expect, it } from 'vitest'
import { openForSite } from '../../server/database/open.ts'
import { submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { report } from '../support/fault-fixtures.ts'
import { aUniqueOrder, type LoadResult, sendOrders } from '../support/load.ts'
import { missingPrograms, startPatroniCluster } from '../support/patroni.ts'
import { startProxy } from '../support/round-robin-proxy.ts'
import { startServer } from '../support/server-process.ts'
import { migrations } from '../support/test-database.ts'

it('two leaders, a standby and a site that docs/failover.md sets up die under load, and nothing confirmed is lost or doubled', {
  timeout: 400_000,
}, async ({ skip }) => {
  skip(missingPrograms.length > 0, `apt-get install patroni etcd-server haproxy postgresql: no ${missingPrograms}`)
  const cluster = await startPatroniCluster()
  atEnd(cluster.close)
  const resend = await startFakeResend()
  atEnd(resend.close)
  const sites = await Promise.all(
    cluster.urls.map((url) =>
      startServer({
        DATABASE_URL: url,
        ...sendingThrough(resend),
        RATE_LIMIT_MAX: '0',
        LOG_LEVEL: 'warn',
        TRUST_PROXY: '127.0.0.1',
        MAIL_LEASE_SECONDS: '2',
        MAIL_RETRY_SECONDS: '1',
      }),
    ),
  )
  for (const site of sites) atEnd(() => site.stop('SIGKILL'))
  const proxy = await startProxy(sites.map(({ url }) => url))
  atEnd(proxy.close)

  const seconds: Record<string, number> = {}
  const loads: LoadResult[] = []
  /** What is killed under load; then the load goes on until 1000 orders are confirmed. */
  async function under(name: string, fault: () => unknown) {
    async function kill() {
      const start = performance.now()
      await fault()
      await eventually(async () => (await submit(proxy.url, aUniqueOrder())).status === 200, 90_000)
      seconds[name] = Math.round((performance.now() - start) / 100) / 10
    }
    loads.push(await sendOrders({ url: () => proxy.url, orders: 1000, retry: true, at: { 300: kill } }))
  }
  async function killOf(role: string) {
    const name = await cluster.nameOf(role)
    await under(`${role} ${name}`, () => cluster.kill(name))
    cluster.start(name)
    await cluster.untilWhole()
  }
  await killOf('leader')
  await killOf('sync_standby')
  await killOf('leader')
  await under('switchover', cluster.switchOver)
  await under('site', () => sites[0]?.stop('SIGKILL'))

  const { db, close } = await openForSite({ url: cluster.urls[1], dataDir: '', migrations })
  atEnd(close)
  const all = {
    sent: loads.flatMap(({ sent }) => sent),
    acknowledged: new Map(loads.flatMap(({ acknowledged }) => [...acknowledged])),
  }
  const result = await audit(db, all, resend)
  const statuses = loads.map((load) => Object.fromEntries(load.statuses))
  report('Patroni: served again after', { seconds, statuses, ...result })
  expect(statuses.flatMap(Object.keys).filter((status) => status !== '200' && status !== '503')).toEqual([])
  expect(statuses.at(-1)).toEqual({ 200: 1000 })
  expect(result.acknowledged).toBe(5000)
  expectNothingLost(result)
})
