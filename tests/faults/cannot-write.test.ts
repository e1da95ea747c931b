// A database that cannot be written to loses no answered order, and the site takes orders again once it can.
// The full disk needs root and a mount.
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { openForSite } from '../../server/database/open.ts'
import { aFolder } from '../support/a-folder.ts'
import { submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { anEmbeddedSite, expectStoredOrRefused, readPostmaster, watchPages } from '../support/embedded-site.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { aUniqueOrder, type LoadResult, sendOrders } from '../support/load.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { onDatabase } from '../support/stored-enquiry.ts'
import { administer, migrations } from '../support/test-database.ts'

const { setUp } = createFaultFixtures()
const run = promisify(execFile)
/** Said once the first tries to start PostgreSQL again have failed. */
const DOES_NOT_START = 'PostgreSQL does not start yet'

const ready = async ({ url }: ServerProcess) => (await fetch(`${url}/readyz`)).status
const order = async ({ url }: ServerProcess) => (await submit(url, aUniqueOrder())).status

describe('a PostgreSQL that does not take enquiries', () => {
  it.each([
    [
      'read-only',
      'ALTER ROLE limited SET default_transaction_read_only TO on',
      'ALTER ROLE limited RESET default_transaction_read_only',
    ],
    ['with INSERT revoked', 'REVOKE INSERT ON "Quvera_Form" FROM limited', 'GRANT INSERT ON "Quvera_Form" TO limited'],
  ])('%s is not ready until an order could be stored', async (_what, fault, cure) => {
    const fixture = await setUp()
    await (await openForSite({ url: fixture.databaseUrl, dataDir: '', migrations, migrate: true })).close()
    const sql = (text: string) => administer(fixture.databaseUrl, text)
    await sql(`CREATE ROLE limited LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO limited;
      GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO limited; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO limited`)
    const server = await fixture.start({
      DATABASE_URL: Object.assign(new URL(fixture.databaseUrl), { username: 'limited' }).href,
    })
    try {
      expect([await order(server), await ready(server)]).toEqual([200, 200])
      await sql(fault)
      // A role's setting holds for new connections: those that are open end.
      await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited'`)
      await eventually(async () => (await order(server)) === 503)
      expect([await order(server), await ready(server)]).toEqual([503, 503])
      for (let asked = 0; asked < 5; asked++) expect([await ready(server), await order(server)]).toEqual([503, 503])
      await sql(cure)
      await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited'`)
      await eventually(async () => (await ready(server)) === 200)
      expect(await order(server)).toBe(200)
    } finally {
      await server.stop('SIGKILL')
      await sql(`DROP OWNED BY limited; DROP ROLE limited`)
    }
  })
})

describe.skipIf(process.getuid?.() !== 0)('a full disk', () => {
  it.each([
    ['tables', () => {}],
    ['the write-ahead log', fillLog],
  ])(
    'for %s refuses orders, loses none that was answered, and goes on by itself when there is room',
    async (what, fill) => {
      const disk = await aFolder('quvera-full-disk-')
      await run('mount', ['-t', 'tmpfs', '-o', 'size=100m', 'tmpfs', disk])
      atEnd(() => run('umount', [disk]))
      const site = await anEmbeddedSite(disk)
      const server = await site.start()
      const endPages = watchPages(site.url)
      const send = (orders: number, retry: boolean) =>
        sendOrders({ url: () => site.url, orders, concurrency: 8, retry })
      const before = await send(100, true)
      const ballast = join(disk, 'ballast')
      await expect(run('cp', ['/dev/zero', ballast])).rejects.toThrow('No space left')
      // Room that tables and log still have takes orders.
      await fill(site.env)
      const filling = await sendUntilRefused(send)
      const during = await send(50, false)
      if (fill === fillLog) await eventually(() => expect(server.stdout()).toContain(DOES_NOT_START))
      expect(await order(server)).toBe(503)
      expect(await ready(server)).toBe(503)
      expect(server.process.exitCode).toBeNull()

      await rm(ballast)
      await eventually(async () => expect(await ready(server)).toBe(200))
      const after = await send(100, true)
      const loads = [before, ...filling, during, after]
      const pages = await endPages()
      const result = await site.expectNothingLost({
        sent: loads.flatMap(({ sent }) => sent),
        acknowledged: new Map(loads.flatMap(({ acknowledged }) => [...acknowledged])),
      })
      report(`no room for ${what}`, { ...result, ...pages, refused: during.statuses.get(503) })
      expect([...during.statuses]).toEqual([[503, 50]])
      expect(pages.pagesFailed).toBe(0)
      for (const load of loads) expectStoredOrRefused(load)
    },
  )
})

it.skipIf(process.getuid?.() !== 0)(
  'a disk that becomes read-only refuses orders, and the site goes on by itself when it can be written to',
  async () => {
    const disk = await aFolder('quvera-read-only-')
    await run('mount', ['-t', 'tmpfs', '-o', 'size=100m', 'tmpfs', disk])
    atEnd(() => run('umount', [disk]))
    const site = await anEmbeddedSite(disk)
    const server = await site.start()
    expect(await order(server)).toBe(200)
    // It takes two or three tries, as PostgreSQL is started again meanwhile.
    await eventually(async () => {
      process.kill(await readPostmaster(site.dataDir), 'SIGKILL')
      await run('mount', ['-o', 'remount,ro', disk])
    })
    await eventually(() => expect(server.stdout()).toContain(DOES_NOT_START))
    expect([await order(server), await ready(server), server.process.exitCode]).toEqual([503, 503, null])
    await run('mount', ['-o', 'remount,rw', disk])
    await eventually(async () => expect(await ready(server)).toBe(200))
    expect(await order(server)).toBe(200)
  },
)

/** Writes to the log until it has no room, which ends PostgreSQL's server processes at once. */
async function fillLog({ DATA_DIR }: { DATA_DIR: string }) {
  const writing = onDatabase({ DATA_DIR }, async (db) => {
    while (true) await db.$executeRaw`SELECT pg_logical_emit_message(true, '', repeat('x', 10000000))`
  })
  await expect(writing).rejects.toThrow()
}

/** Sends orders until none of fifty is stored. */
async function sendUntilRefused(send: (orders: number, retry: boolean) => Promise<LoadResult>) {
  const loads: LoadResult[] = []
  do loads.push(await send(50, false))
  while (loads.at(-1)?.acknowledged.size)
  return loads
}
