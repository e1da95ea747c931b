import { cp, mkdir, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openDatabase } from '../../server/open-database.ts'
import { aClient } from '../support/a-client.ts'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { report } from '../support/fault-fixtures.ts'
import { aUniqueOrder, sendOrders } from '../support/load.ts'
import { startServer } from '../support/server-process.ts'
import { migrations } from '../support/test-database.ts'

const ENDS = 50
const ORDERS_BETWEEN = 20
const KILLER = resolve(import.meta.dirname, '../support/thread-killer.ts')

async function startSite(env: Record<string, string> = {}) {
  const folder = await aFolder('quvera-thread-', tmpdir())
  const server = await startServer({
    DATA_DIR: folder,
    RATE_LIMIT_MAX: '0',
    LOG_LEVEL: 'warn',
    NODE_OPTIONS: `--import ${KILLER}`,
    ...env,
  })
  atEnd(() => server.stop('SIGKILL'))
  return { folder, server, endThread: () => void server.process.kill('SIGUSR2') }
}

const ready = async (url: string) => (await fetch(`${url}/readyz`)).status

it('fifty ends of the database thread under load cost no answered order, double none, and no page waits', {
  timeout: 400_000,
}, async () => {
  const resend = await startFakeResend()
  atEnd(resend.close)
  const { folder, server, endThread } = await startSite({
    ...sendingThrough(resend),
    MAIL_LEASE_SECONDS: '2',
    MAIL_RETRY_SECONDS: '1',
  })
  const pages: number[] = []
  let isOver = false
  let slowest = 0
  const watching = (async () => {
    while (!isOver) {
      const start = performance.now()
      pages.push((await fetch(server.url)).status)
      slowest = Math.max(slowest, performance.now() - start)
      await sleep(20)
    }
  })()
  let ends = 0
  const end = async () => {
    ends++
    endThread()
  }
  const at = Object.fromEntries(Array.from({ length: ENDS }, (_, index) => [(index + 1) * ORDERS_BETWEEN, end]))
  const load = await sendOrders({
    url: () => server.url,
    orders: (ENDS + 1) * ORDERS_BETWEEN,
    concurrency: 8,
    retry: true,
    at,
  })
  isOver = true
  await watching
  await eventually(() => expect(resend.mails.length).toBeGreaterThanOrEqual(load.sent.length * 2), 150_000) // a loaded machine sends 30 a second
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  const { db, close } = await openDatabase({ dataDir: folder, migrations })
  const result = await audit(db, load, resend, 0)
  await close()
  report(`${ENDS} ends of the database thread`, { ...result, slowestPageMs: Math.round(slowest) })
  expect(ends).toBe(ENDS)
  expect(result.acknowledged).toBe((ENDS + 1) * ORDERS_BETWEEN)
  expect(new Set(pages)).toEqual(new Set([200]))
  expectNothingLost(result)
})

it('while the thread is away an order is answered 503 and is not stored later, and the next one is stored', async () => {
  const { server, endThread } = await startSite()
  endThread()
  const refused = aUniqueOrder()
  await eventually(async () => {
    endThread()
    expect((await submit(server.url, refused)).status).toBe(503)
  })
  await eventually(async () => expect(await ready(server.url)).toBe(200))
  expect((await submit(server.url, refused)).status).toBe(200)
})

it('three failed openings in a row end the process with the reason', async () => {
  const { folder, server, endThread } = await startSite()
  await rename(join(folder, 'postgres/global'), join(folder, 'postgres/elsewhere'))
  endThread()
  expect(await server.exited).toEqual({ code: 1, signal: null })
  expect(server.stderr()).toMatch(
    /^The embedded database in \S+ is not whole: global\/pg_control is missing\. Nothing was changed\. [^\n]*\n$/,
  )
  expect(server.stdout()).toMatch(/ended: its thread ended\. No confirmed order is lost\. It is started again/)
})

it('a client’s statement that never ends is given up after 30 s with the thread, and until then pages are served', async () => {
  const { folder, server } = await startSite()
  const client = await aClient({ DATA_DIR: folder })
  const endless = client.query('SELECT count(*) FROM generate_series(1, 1000000000000)').catch((error: Error) => error)
  await sleep(500)
  const order = anOrder()
  const started = performance.now()
  const answer = await submit(server.url, order)
  expect([answer.status, answer.message]).toEqual([503, 'Error adding document'])
  expect(performance.now() - started).toBeLessThan(10_000)
  expect((await fetch(server.url)).status).toBe(200)
  expect(await endless).toBeInstanceOf(Error)
  await eventually(async () => expect(await ready(server.url)).toBe(200), 30_000)
  expect(server.process.exitCode).toBeNull()
  expect(server.stdout()).toContain('ended: it did not answer for 30 seconds')
  // The order that was given up while it waited was not stored.
  const { rows } = await (await aClient({ DATA_DIR: folder })).query('SELECT FROM "Quvera_Form"')
  expect(rows).toEqual([])
})

it.each([
  ['sql', 'SELECT endless(n + 1)'],
  ['plpgsql', 'BEGIN RETURN endless(n + 1); END'],
])(
  'a client’s %s function that calls itself without end costs the thread, and the next one stores orders',
  async (language, body) => {
    const { folder, server } = await startSite()
    const client = await aClient({ DATA_DIR: folder })
    await client.query(`CREATE FUNCTION endless(n int) RETURNS int LANGUAGE ${language} AS '${body}'`)
    client.query('SELECT endless(1)').catch(() => {})
    await eventually(() => expect(server.stdout()).toContain('It is started again'), 60_000)
    const order = anOrder()
    await eventually(async () => expect((await submit(server.url, order)).status).toBe(200))
    expect(server.process.exitCode).toBeNull()
  },
)

it('a migration may take longer than 30 s', async () => {
  const folder = await aFolder('quvera-thread-', tmpdir())
  await cp(migrations, join(folder, 'migrations'), { recursive: true })
  await mkdir(join(folder, 'migrations/29990101000000_slow'))
  await writeFile(
    join(folder, 'migrations/29990101000000_slow/migration.sql'),
    `DO $$ BEGIN WHILE clock_timestamp() < now() + interval '45 seconds' LOOP END LOOP; END $$`,
  )
  const said: string[] = []
  const options = { migrations: join(folder, 'migrations'), migrate: true, warn: (words: string) => said.push(words) }
  const { notes, close } = await openDatabase({ ...options, dataDir: join(folder, 'data') })
  await close()
  expect(notes).toContain('applied migration 29990101000000_slow')
  expect(said).toEqual([])
})
