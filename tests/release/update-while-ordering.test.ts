// An update of the site and the way back lose no order, and three replicas serve without a gap of a second.
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import type { Order } from '../../shared/order.ts'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { startCaddy } from '../support/caddy.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { freePort, type ServerProcess, startServer } from '../support/server-process.ts'
import { onDatabase } from '../support/stored-enquiry.ts'

/* There is no container engine here: processes end and start in the order in which compose ends and starts containers. */

const { setUp } = createFaultFixtures()

const ORDER_EVERY_MS = 1000
const ASK_EVERY_MS = 20
/** As the browser repeats it: under the same key, until it is answered. */
const REPEAT_MS = 250

/** Sends an order a second, and asks for the path fifty times a second, until it is told to end. */
function watch(url: string, path: string) {
  let isOver = false
  const sent: { order: Order; tries: number; reference?: string | undefined }[] = []
  const gaps: number[] = []
  async function send() {
    const each = { order: anOrder(), tries: 0, reference: undefined as string | undefined }
    sent.push(each)
    while (!each.reference && each.tries++ < 100) {
      each.reference = (await submit(url, each.order).catch(() => undefined))?.reference
      if (!each.reference) await sleep(REPEAT_MS)
    }
  }
  async function order() {
    const sending: Promise<void>[] = []
    while (!isOver) {
      sending.push(send())
      await sleep(ORDER_EVERY_MS)
    }
    await Promise.all(sending)
  }
  async function ask() {
    let lastReady = performance.now()
    while (!isOver) {
      const isReady = await fetch(url + path).then(
        ({ ok }) => ok,
        () => false,
      )
      if (isReady) {
        gaps.push(performance.now() - lastReady)
        lastReady = performance.now()
      }
      await sleep(ASK_EVERY_MS)
    }
  }
  const running = Promise.all([order(), ask()])
  return {
    async end() {
      isOver = true
      await running
      return {
        secondsWithoutService: Number((Math.max(...gaps) / 1000).toFixed(1)),
        orders: sent.length,
        repeated: sent.filter(({ tries }) => tries > 1).length,
        references: sent.map(({ reference }) => reference ?? 'none'),
      }
    },
  }
}

/** Every stored enquiry is one that a client was told of, and every one that was told of is stored. */
async function expectToldOnly(db: Db, told: string[]) {
  const stored = await db.enquiry.findMany({ select: { reference: true } })
  expect(stored.map(({ reference }) => reference).sort()).toEqual(told.toSorted())
}

/** A migration that the version before does not know. */
const LATER = `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
  VALUES ('later', 'x', '99991231235959_later', now(), now(), 1)`

it('one container: of an order a second none is lost or doubled by an update or the way back', async () => {
  const env = { DATA_DIR: await aFolder('quvera-update-'), PORT: String(await freePort()), RATE_LIMIT_MAX: '0' }
  let site = await startServer(env)
  atEnd(() => site.stop('SIGKILL'))
  const told: string[] = []
  for (const step of ['update', 'way back']) {
    const watched = watch(site.url, '/readyz')
    await sleep(ORDER_EVERY_MS)
    if (step === 'way back') await onDatabase(env, (db) => db.$executeRawUnsafe(LATER))
    expect((await site.stop()).code).toBe(0)
    site = await startServer(env)
    await sleep(ORDER_EVERY_MS)
    const { references, ...figures } = await watched.end()
    report(`one container, ${step}`, figures)
    expect(figures.secondsWithoutService).toBeLessThan(10)
    told.push(...references)
    await onDatabase(env, (db) => expectToldOnly(db, told))
  }
  expect(site.stdout()).toContain('99991231235959_later')
})

it.skipIf(!existsSync('/usr/bin/caddy') || !existsSync('/usr/lib/postgresql'))(
  'three replicas behind deploy/Caddyfile: an update, one after the other, and the way back cost not a second',
  async () => {
    const fixture = await setUp()
    const replicas: ServerProcess[] = []
    for (let number = 0; number < 3; number++) replicas.push(await fixture.start())
    const { url } = await startCaddy(replicas.map((replica) => new URL(replica.url).host))
    await eventually(async () => (await fetch(`${url}/readyz`)).ok)
    const told: string[] = []
    for (const step of ['update', 'way back']) {
      const watched = watch(url, '/')
      await sleep(ORDER_EVERY_MS)
      if (step === 'way back') await fixture.inspect((db) => db.$executeRawUnsafe(LATER))
      for (const [index, replica] of replicas.entries()) {
        await replica.stop()
        replicas[index] = await fixture.start({ PORT: new URL(replica.url).port })
      }
      await sleep(ORDER_EVERY_MS)
      const { references, ...figures } = await watched.end()
      report(`three replicas, ${step}`, figures)
      expect(figures).toMatchObject({ repeated: 0 })
      expect(figures.secondsWithoutService).toBeLessThan(1)
      told.push(...references)
      await fixture.inspect((db) => expectToldOnly(db, told))
    }
  },
)
