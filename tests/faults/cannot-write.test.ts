// A disk that cannot be written to loses no answered order, and the site takes orders again by itself once it can.
// It needs root, and mounts.
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { anEmbeddedSite, expectStoredOrRefused, readPostmaster, watchPages } from '../support/embedded-site.ts'
import { eventually } from '../support/eventually.ts'
import { report } from '../support/fault-fixtures.ts'
import { aUniqueOrder, type LoadResult, sendOrders } from '../support/load.ts'
import { onDatabase } from '../support/stored-enquiry.ts'

const run = promisify(execFile)
/** Said once the first tries to start PostgreSQL again have failed. */
const DOES_NOT_START = 'PostgreSQL does not start yet'

/** A site with a database of its own on a disk of 100 MB. */
async function aSiteOnADisk() {
  const disk = await aFolder('quvera-disk-')
  await run('mount', ['-t', 'tmpfs', '-o', 'size=100m', 'tmpfs', disk])
  atEnd(() => run('umount', [disk]))
  const site = await anEmbeddedSite(disk)
  const server = await site.start()
  return {
    ...site,
    disk,
    server,
    problems: async () => (await (await fetch(`${site.url}/statusz`)).json()).problems,
    ready: async () => (await fetch(`${site.url}/readyz`)).status,
    order: async () => (await submit(site.url, aUniqueOrder())).status,
  }
}

describe.skipIf(process.getuid?.() !== 0)('a disk', () => {
  it.each([
    ['tables', () => {}],
    ['the write-ahead log', fillLog],
  ])('without room for %s refuses orders until there is some, and loses none that was answered', async (what, fill) => {
    const site = await aSiteOnADisk()
    const { server, disk } = site
    const endPages = watchPages(site.url)
    const loads: LoadResult[] = []
    async function send(orders: number, retry: boolean) {
      const load = await sendOrders({ url: () => site.url, orders, concurrency: 8, retry })
      loads.push(load)
      return load
    }
    await send(100, true)
    const ballast = join(disk, 'ballast')
    await expect(run('cp', ['/dev/zero', ballast])).rejects.toThrow('No space left')
    await fill(site.env)
    // Room that tables and log still have takes orders.
    await eventually(async () => expect((await send(50, false)).acknowledged.size).toBe(0))
    if (fill === fillLog) await eventually(() => expect(server.stdout()).toContain(DOES_NOT_START))
    else expect(await site.problems()).toEqual(['Orders cannot be stored: the disk is full.'])
    expect([await site.order(), await site.ready(), server.process.exitCode]).toEqual([503, 503, null])
    await rm(ballast)
    await eventually(async () => expect(await site.ready()).toBe(200))
    await send(100, true)
    const pages = await endPages()
    const result = await site.expectNothingLost({
      sent: loads.flatMap(({ sent }) => sent),
      acknowledged: new Map(loads.flatMap(({ acknowledged }) => [...acknowledged])),
    })
    report(`no room for ${what}`, { ...result, ...pages })
    expect(pages.pagesFailed).toBe(0)
    for (const load of loads) expectStoredOrRefused(load)
  })

  it('that becomes read-only refuses orders until it can be written to', async () => {
    const { order, ready, dataDir, disk, server } = await aSiteOnADisk()
    expect(await order()).toBe(200)
    // It takes two or three tries, as PostgreSQL is started again meanwhile.
    await eventually(async () => {
      process.kill(await readPostmaster(dataDir), 'SIGKILL')
      await run('mount', ['-o', 'remount,ro', disk])
    })
    await eventually(() => expect(server.stdout()).toContain(DOES_NOT_START))
    expect([await order(), await ready(), server.process.exitCode]).toEqual([503, 503, null])
    await run('mount', ['-o', 'remount,rw', disk])
    await eventually(async () => expect(await ready()).toBe(200))
    expect(await order()).toBe(200)
  })
})

/** Writes to the log until it has no room, which ends PostgreSQL's server processes at once. */
async function fillLog({ DATA_DIR }: { DATA_DIR: string }) {
  const writing = onDatabase({ DATA_DIR }, async (db) => {
    while (true) await db.$executeRaw`SELECT pg_logical_emit_message(true, '', repeat('x', 10000000))`
  })
  await expect(writing).rejects.toThrow()
}
