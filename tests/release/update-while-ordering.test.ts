// An update of the site and the way back lose and double no order; replicas are updated without a gap of a second, and
// a visitor gets a page and its files from the same build.
// Not in `npm test`: it needs Caddy and a PostgreSQL server, and sends an order a second meanwhile.
import { existsSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { startCaddy } from '../support/caddy.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { freePort, type ServerProcess, startServer } from '../support/server-process.ts'
import { onDatabase } from '../support/stored-enquiry.ts'

/* There is no container engine here: processes end and start in the order in which compose ends and starts containers. */

const ORDER_EVERY_MS = 1000
const ASK_EVERY_MS = 20
/** As the browser repeats it: under the same key, until it is answered. */
const REPEAT_MS = 250
/** A migration that the version before does not know. */
const LATER = `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
  VALUES ('later', 'x', '99991231235959_later', now(), now(), 1)`

/** Sends an order a second, and asks for the path fifty times a second, until it is told to end. */
function watch(url: string, path: string) {
  let isOver = false
  let repeated = 0
  const gaps: number[] = []
  const sent: Promise<string>[] = []
  async function send(): Promise<string> {
    const order = anOrder()
    for (let tries = 0; tries < 100; tries++) {
      const answer = await submit(url, order).catch(() => undefined)
      if (answer?.reference) return answer.reference
      repeated++
      await sleep(REPEAT_MS)
    }
    return 'none'
  }
  async function order() {
    while (!isOver) {
      sent.push(send())
      await sleep(ORDER_EVERY_MS)
    }
  }
  async function ask() {
    let lastReady = performance.now()
    while (!isOver) {
      const answer = await fetch(url + path).catch(() => undefined)
      if (answer?.ok) {
        gaps.push(performance.now() - lastReady)
        lastReady = performance.now()
      }
      await sleep(ASK_EVERY_MS)
    }
  }
  const running = Promise.all([order(), ask()])
  return {
    hasSent: (orders: number) => eventually(() => sent.length >= orders),
    count: () => sent.length,
    async end() {
      isOver = true
      await running
      const references = await Promise.all(sent)
      return { references, repeated, secondsWithoutService: Number((Math.max(...gaps) / 1000).toFixed(1)) }
    },
  }
}

/** The update, and then the way back on a database that has one more migration, both while orders come in. */
async function updateAndGoBack(
  what: string,
  watched: { url: string; path: string },
  inspect: (read: (db: Db) => Promise<unknown>) => Promise<unknown>,
  replace: () => Promise<void>,
) {
  const told: string[] = []
  const all = { repeated: 0, secondsWithoutService: 0 }
  for (const step of ['update', 'way back']) {
    const clients = watch(watched.url, watched.path)
    await clients.hasSent(1)
    if (step === 'way back') await inspect((db) => db.$executeRawUnsafe(LATER))
    await replace()
    await clients.hasSent(clients.count() + 1)
    const { references, ...figures } = await clients.end()
    report(`${what}, ${step}`, { ...figures, orders: references.length })
    told.push(...references)
    all.repeated += figures.repeated
    all.secondsWithoutService = Math.max(all.secondsWithoutService, figures.secondsWithoutService)
  }
  await inspect(async (db) => {
    const stored = await db.enquiry.findMany({ select: { reference: true } })
    expect(stored.map(({ reference }) => reference).sort()).toEqual(told.toSorted())
  })
  return all
}

it('one container: of an order a second none is lost or doubled', async () => {
  const env = { DATA_DIR: await aFolder('quvera-update-'), PORT: String(await freePort()), RATE_LIMIT_MAX: '0' }
  let site = await startServer(env)
  atEnd(() => site.stop('SIGKILL'))
  const watched = { url: site.url, path: '/readyz' }
  const inspect = (read: (db: Db) => Promise<unknown>) => onDatabase(env, read)
  const { secondsWithoutService } = await updateAndGoBack('one container', watched, inspect, async () => {
    expect((await site.stop()).code).toBe(0)
    site = await startServer(env)
  })
  expect(secondsWithoutService).toBeLessThan(10)
  expect(site.stdout()).toContain('99991231235959_later')
})

describe.skipIf(!existsSync('/usr/bin/caddy') || !existsSync('/usr/lib/postgresql'))('replicas behind Caddy', () => {
  const { setUp } = createFaultFixtures()

  async function behindCaddy(sites: ServerProcess[]) {
    const { url } = await startCaddy(sites.map((site) => new URL(site.url).host))
    await eventually(async () => (await fetch(`${url}/readyz`)).ok)
    return url
  }

  it('three, one after the other: no order is sent twice, and not a second is without pages', async () => {
    const { start, inspect } = await setUp()
    const replicas = await Promise.all([start(), start(), start()])
    const watched = { url: await behindCaddy(replicas), path: '/' }
    const figures = await updateAndGoBack('three replicas', watched, inspect, async () => {
      for (const [index, replica] of replicas.entries()) {
        await replica.stop()
        replicas[index] = await start({ PORT: new URL(replica.url).port })
      }
    })
    expect(figures.repeated).toBe(0)
    expect(figures.secondsWithoutService).toBeLessThan(1)
  })

  it('a visitor is led to the same one each time, and so gets a page and its files from the same build', async () => {
    const { start } = await setUp()
    const url = await behindCaddy(
      await Promise.all(['one', 'two'].map((name) => start({ PUBLIC_URL: `http://${name}.test` }))),
    )
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

/** What a page says to an address of this machine, over a connection of its own. */
async function publicUrlShownTo(localAddress: string, url: string) {
  const sent = request(url, { agent: false, localAddress, family: 4 }).end()
  const answer = await new Promise<IncomingMessage>((done, fail) => {
    sent.once('response', done).once('error', fail)
  })
  return /<link rel="canonical" href="([^"]+)"/.exec(await text(answer))?.[1] ?? 'none'
}
