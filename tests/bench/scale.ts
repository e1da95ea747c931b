/** `npm run bench:scale`: start and memory, on PostgreSQL and embedded, and whether a full table slows an order. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { submit } from '../support/an-order.ts'
import { aUniqueOrder, sendOrders } from '../support/load.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { calmP50 } from './http-load.ts'
import { finish, median, report } from './report.ts'
import { fill, newDatabase, startServerOfSameVersion } from './targets.ts'

const STARTS = 5
const quiet = { LOG_LEVEL: 'error', RATE_LIMIT_MAX: '0' }
const postgres = await startServerOfSameVersion()

console.log('\nPostgreSQL')
await startAndMemory({ DATABASE_URL: await newDatabase(postgres) }, { firstMs: 500, megabytes: 220 })
console.log('\nEmbedded database')
await embedded()
console.log('\nA full table')
await fullTable(await newDatabase(postgres))
await postgres.close()
finish()

async function startAndMemory(env: Record<string, string>, goals: { firstMs: number; megabytes: number }) {
  await reportFirstOrder('start', goals.firstMs, () => env)
  const server = await startServer({ ...env, ...quiet })
  let peak = 0
  const watch = setInterval(async () => (peak = Math.max(peak, await megabytes(server))), 200)
  const send = (orders: number) => sendOrders({ url: () => server.url, orders, retry: false })
  await send(5000)
  report('memory after 5,000 orders', await megabytes(server), 'MB', { atMost: goals.megabytes })
  await send(5000)
  const before = await megabytes(server)
  await send(10_000)
  report('growth from 10,000 to 20,000 orders', (await megabytes(server)) - before, 'MB', { atMost: 30 })
  report('most memory seen, with a PostgreSQL of its own', peak, 'MB', { atMost: 300 })
  clearInterval(watch)
  await server.stop()
}

async function embedded() {
  const folder = await mkdtemp(join(tmpdir(), 'quvera-scale-'))
  await reportFirstOrder('first start', 1200, (start) => ({ DATA_DIR: join(folder, `new-${start}`) }))
  const used = { DATA_DIR: join(folder, 'new-0') }
  const server = await startServer({ ...used, ...quiet })
  report('p50 of a calm 100 orders/s, synced to disk', await calmP50(server.url, 8), 'ms', { atMost: 5 })
  await server.stop()
  await startAndMemory(used, { firstMs: 1200, megabytes: 300 })
  await rm(folder, { recursive: true, force: true })
}

async function fullTable(url: string) {
  const server = await startServer({ DATABASE_URL: url, ...quiet })
  const empty = await calmP50(server.url, 8)
  await fill(url, 50_000, 'Pending')
  await fill(url, 1_000_000, 'Sent')
  const full = await calmP50(server.url, 8)
  report('p50 of an order, empty table', empty, 'ms')
  report('with 1,000,000 enquiries and 2,100,000 mails, of that', full / empty, '×', { atMost: 1.2 })
  await server.stop()
}

/** From the start of the process to the first order that is stored. */
async function reportFirstOrder(what: string, atMost: number, env: (start: number) => Record<string, string>) {
  const times: number[] = []
  for (let start = 0; start < STARTS; start++) {
    const spawned = performance.now()
    const server = await startServer({ ...env(start), ...quiet }, { waitUntilReady: false })
    const order = aUniqueOrder()
    while ((await submit(server.url, order).catch(() => undefined))?.status !== 200)
      await new Promise((done) => setTimeout(done, 5))
    times.push(performance.now() - spawned)
    await server.stop()
  }
  report(`first order of a ${what} answered, median of ${STARTS}, after`, median(times), 'ms', { atMost })
}

/** Memory of the process and of its children, each page that several share counted once. */
async function megabytes({ process: { pid = 0 } }: ServerProcess): Promise<number> {
  const pids = [pid]
  for (const parent of pids) pids.push(...(await childrenOf(parent)))
  const sizes = pids.map(async (one) => {
    const rollup = await readFile(`/proc/${one}/smaps_rollup`, 'utf8').catch(() => '') // it may have ended
    return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}
