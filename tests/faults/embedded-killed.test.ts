// The site or its embedded PostgreSQL can be killed under load, and no order is lost or doubled.
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  anEmbeddedSite,
  expectStoredOrRefused,
  lockHolders,
  readPostmaster,
  watchPages,
} from '../support/embedded-site.ts'
import { eventually } from '../support/eventually.ts'
import { report } from '../support/fault-fixtures.ts'
import { sendOrders } from '../support/load.ts'

/** A process that serves a client of this role. */
async function findBackend(dataDir: string, role: string): Promise<number> {
  for (const pid of await lockHolders(dataDir)) {
    const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (title.startsWith(`postgres: ${role} `)) return pid
  }
  throw new Error(`No client is logged in as ${role}`)
}

/** 300 orders that their clients repeat, and a fault after each fifty of the first 250. */
function sendWithFiveFaults(url: string, fault: () => unknown) {
  const at = Object.fromEntries([50, 100, 150, 200, 250].map((answered) => [answered, fault]))
  return sendOrders({ url: () => url, orders: 300, concurrency: 16, retry: true, at })
}

/** The same on a running site, whose pages are asked for meanwhile. */
async function expectAllServed(what: string, site: Awaited<ReturnType<typeof anEmbeddedSite>>, kill: () => unknown) {
  const endPages = watchPages(site.url)
  let kills = 0
  const load = await sendWithFiveFaults(site.url, async () => {
    await kill()
    kills++
  })
  const pages = await endPages()
  const result = await site.expectNothingLost(load)
  report(what, { ...result, ...pages, refused: load.statuses.get(503) ?? 0 })
  expect([kills, result.acknowledged, pages.pagesFailed]).toEqual([5, 300, 0])
  expectStoredOrRefused(load)
  return load
}

it('PostgreSQL’s main process killed five times under load loses and doubles nothing, and pages are served', async () => {
  const site = await anEmbeddedSite()
  const server = await site.start()
  const load = await expectAllServed('PostgreSQL killed 5 times', site, async () => {
    const killed = await readPostmaster(site.dataDir)
    process.kill(killed, 'SIGKILL')
    await eventually(async () => expect(await readPostmaster(site.dataDir)).not.toBe(killed))
  })
  expect(load.statuses.get(503)).toBeGreaterThan(0)
  expect(server.process.exitCode).toBeNull()
})

it('a backend killed five times under load is PostgreSQL’s own business', async () => {
  const site = await anEmbeddedSite()
  const server = await site.start()
  const postmaster = await readPostmaster(site.dataDir)
  await expectAllServed('a backend killed 5 times', site, () =>
    eventually(async () => process.kill(await findBackend(site.dataDir, 'quvera_app'), 'SIGKILL')),
  )
  expect(await readPostmaster(site.dataDir)).toBe(postmaster)
  expect(server.stdout()).not.toContain('PostgreSQL has ended')
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
