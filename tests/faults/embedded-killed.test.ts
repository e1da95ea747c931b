// The site or its embedded PostgreSQL can be killed under load, and no order is lost or doubled.
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { anEmbeddedSite, expectStoredOrRefused, readPostmaster, watchPages } from '../support/embedded-site.ts'
import { eventually } from '../support/eventually.ts'
import { report } from '../support/fault-fixtures.ts'
import { sendOrders } from '../support/load.ts'

/** 300 orders that their clients repeat, and a fault after each fifty of the first 250. */
function sendWithFiveFaults(url: string, fault: () => unknown) {
  const at = Object.fromEntries([50, 100, 150, 200, 250].map((answered) => [answered, fault]))
  return sendOrders({ url: () => url, orders: 300, concurrency: 16, retry: true, at })
}

it('PostgreSQL’s main process killed five times under load loses and doubles nothing, and pages are served', async () => {
  const site = await anEmbeddedSite()
  const server = await site.start()
  const endPages = watchPages(site.url)
  const load = await sendWithFiveFaults(site.url, async () => {
    const killed = await readPostmaster(site.dataDir)
    process.kill(killed, 'SIGKILL')
    await eventually(async () => expect(await readPostmaster(site.dataDir)).not.toBe(killed))
  })
  const pages = await endPages()
  const result = await site.expectNothingLost(load)
  report('PostgreSQL killed 5 times', { ...result, ...pages, refused: load.statuses.get(503) })
  expect([result.acknowledged, pages.pagesFailed]).toEqual([300, 0])
  expectStoredOrRefused(load)
  expect(load.statuses.get(503)).toBeGreaterThan(0)
  expect(server.process.exitCode).toBeNull()
})

it('the site killed five times under load takes PostgreSQL along, starts again, and loses and doubles nothing', async () => {
  const site = await anEmbeddedSite()
  await site.start()
  const endedAfterMs: number[] = []
  const load = await sendWithFiveFaults(site.url, async () => {
    endedAfterMs.push(Math.round(await site.kill()))
    await site.start()
  })
  const result = await site.expectNothingLost(load)
  report('site with embedded database killed 5 times', { ...result, endedAfterMs })
  expect([endedAfterMs.length, result.acknowledged]).toEqual([5, 300])
})

it('a site whose PostgreSQL cannot be started again ends with PostgreSQL’s own words', async () => {
  const site = await anEmbeddedSite()
  const server = await site.start()
  await rename(join(site.dataDir, 'postgres/global/pg_control'), join(site.dataDir, 'pg_control.away'))
  process.kill(await readPostmaster(site.dataDir), 'SIGKILL')
  const { code } = await server.exited
  expect(code).toBe(1)
  expect(server.stderr()).toMatch(/^PostgreSQL does not start on [^\n]*pg_control[^\n]*\n$/)
})
