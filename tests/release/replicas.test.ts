// Replicas behind deploy/Caddyfile are updated one after the other without interruption, and keep their visitors.
// Not in `npm test`: it needs Caddy and a PostgreSQL server.
import { existsSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { audit, expectNothingLost } from '../support/audit.ts'
import { startCaddy } from '../support/caddy.ts'
import { watchPages } from '../support/embedded-site.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { type LoadResult, sendOrders } from '../support/load.ts'
import type { ServerProcess } from '../support/server-process.ts'

/* There is no container engine here: processes end and start in the order in which compose ends and starts containers. */

/** A migration that the version before does not know. */
const LATER = `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
  VALUES ('later', 'x', '99991231235959_later', now(), now(), 1)`

async function behindCaddy(sites: ServerProcess[]) {
  const { url } = await startCaddy(sites.map((site) => new URL(site.url).host))
  await eventually(async () => (await fetch(`${url}/readyz`)).ok)
  return url
}

/** What a page says to an address of this machine, over a connection of its own. */
async function publicUrlShownTo(localAddress: string, url: string) {
  const sent = request(url, { agent: false, localAddress, family: 4 }).end()
  const answer = await new Promise<IncomingMessage>((done, fail) => {
    sent.once('response', done).once('error', fail)
  })
  return /<link rel="canonical" href="([^"]+)"/.exec(await text(answer))?.[1] ?? 'none'
}

describe.skipIf(!existsSync('/usr/bin/caddy') || !existsSync('/usr/lib/postgresql'))('behind Caddy', () => {
  const { setUp } = createFaultFixtures()

  it('an update under load and the way back cost no order, no answer and not a second without pages', async () => {
    const { start, inspect, resend } = await setUp()
    const replicas = await Promise.all([start(), start(), start()])
    const url = await behindCaddy(replicas)
    const endPages = watchPages(url)
    async function replaceAll() {
      for (const [index, replica] of replicas.entries()) {
        await replica.stop()
        replicas[index] = await start({ PORT: new URL(replica.url).port })
      }
    }
    let isOver = false
    async function updateAndGoBack() {
      await replaceAll()
      await inspect((db) => db.$executeRawUnsafe(LATER))
      await replaceAll()
    }
    const updating = updateAndGoBack().finally(() => (isOver = true))
    const loads: LoadResult[] = []
    while (!isOver) loads.push(await sendOrders({ url: () => url, orders: 100, concurrency: 2, retry: false }))
    await updating
    const pages = await endPages()
    const sent = loads.flatMap((load) => load.sent)
    const acknowledged = new Map(loads.flatMap((load) => [...load.acknowledged]))
    const result = await inspect((db) => audit(db, { sent, acknowledged }, resend))
    report('three replicas replaced twice', { ...result, ...pages })
    expect(result.acknowledged).toBe(sent.length)
    expect(pages.pagesFailed).toBe(0)
    expect(pages.slowestPageMs).toBeLessThan(1000)
    expectNothingLost(result)
  })

  it('a visitor is led to the same one each time, and so gets a page and its files from the same build', async () => {
    const { start } = await setUp()
    const sites = await Promise.all(['one', 'two'].map((name) => start({ PUBLIC_URL: `http://${name}.test` })))
    const url = await behindCaddy(sites)
    const met = new Set<string>()
    for (let visitor = 1; visitor <= 20; visitor++) {
      const asked = Array.from({ length: 3 }, () => publicUrlShownTo(`127.0.0.${100 + visitor}`, url))
      const shown = new Set(await Promise.all(asked))
      expect(shown.size).toBe(1)
      met.add([...shown].join())
    }
    expect([...met].sort()).toEqual(['http://one.test/', 'http://two.test/'])
  })
})
