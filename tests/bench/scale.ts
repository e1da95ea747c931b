/** `npm run bench:scale`: start, memory, and whether a backlog or a full table slows an order. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { submit } from '../support/an-order.ts'
import { aUniqueOrder } from '../support/load.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { measureHttp, post } from './http-load.ts'
import { median, missed, report } from './report.ts'
import { fill, newDatabase, startServerOfSameVersion } from './targets.ts'

const STARTS = 5
const PEAK_MEGABYTES = 300
const quiet = { LOG_LEVEL: 'error', RATE_LIMIT_MAX: '0' }
const postgres = await startServerOfSameVersion()

console.log('\nPostgreSQL')
await startAndMemory({ DATABASE_URL: await newDatabase(postgres) }, { firstMs: 450, megabytes: 220, growth: 30 })
console.log('\nEmbedded database')
await embedded()

console.log('\nA backlog and a full table')
await backlogAndSize(await newDatabase(postgres))

await postgres.close()
console.log(missed.length ? `\nMISSED: ${missed.join(', ')}` : '\nok: all goals met')
process.exit(missed.length ? 1 : 0)

async function startAndMemory(
  env: Record<string, string>,
  goals: { firstMs: number; megabytes: number; growth?: number },
) {
  const starts: number[] = []
  for (let start = 0; start < STARTS; start++) starts.push(await firstOrder(env))
  report(`first order answered, median of ${STARTS} starts, after`, median(starts), 'ms', { atMost: goals.firstMs })
  const server = await startServer({ ...env, ...quiet })
  let peak = 0
  const watch = setInterval(async () => (peak = Math.max(peak, await megabytes(server))), 200)
  await orders(server, 5000)
  report('memory after 5,000 orders', await megabytes(server), 'MB', { atMost: goals.megabytes })
  await orders(server, 5000)
  const before = await megabytes(server)
  await orders(server, 10_000)
  const growth = (await megabytes(server)) - before
  report('growth from 10,000 to 20,000 orders', growth, 'MB', goals.growth ? { atMost: goals.growth } : undefined)
  report('most memory seen, with a PostgreSQL of its own', peak, 'MB', { atMost: PEAK_MEGABYTES })
  clearInterval(watch)
  await server.stop()
}

async function embedded() {
  const folder = await mkdtemp(join(tmpdir(), 'quvera-scale-'))
  const first: number[] = []
  for (let start = 0; start < STARTS; start++) first.push(await firstOrder({ DATA_DIR: join(folder, `new-${start}`) }))
  const of = `median of ${STARTS} new folders`
  report(`first order of a first start answered, ${of}, after`, median(first), 'ms', { atMost: 1200 })
  const used = { DATA_DIR: join(folder, 'new-0') }
  const server = await startServer({ ...used, ...quiet })
  report('p50 of a calm 100 orders/s, synced to disk', await calmP50(server), 'ms', { atMost: 5 })
  await server.stop()
  await startAndMemory(used, { firstMs: 1200, megabytes: PEAK_MEGABYTES })
  await rm(folder, { recursive: true, force: true })
}

/** From the start of the process to the first order that is stored, in milliseconds. */
async function firstOrder(env: Record<string, string>): Promise<number> {
  const spawned = performance.now()
  const server = await startServer({ ...env, ...quiet }, { waitUntilReady: false })
  await untilAnswered(server.url)
  const ms = performance.now() - spawned
  await server.stop()
  return ms
}

async function untilAnswered(url: string): Promise<void> {
  const order = aUniqueOrder()
  for (;;) {
    const answer = await submit(url, order).catch(() => undefined)
    if (answer?.status === 200) return
    await new Promise((done) => setTimeout(done, 5))
  }
}

async function orders(server: ServerProcess, count: number) {
  let left = count
  const client = async () => {
    while (left-- > 0) await submit(server.url, aUniqueOrder())
  }
  await Promise.all(Array.from({ length: 32 }, client))
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

/** Milliseconds of an order at 100 a second, once the server is warm. */
async function calmP50(server: ServerProcess): Promise<number> {
  const port = Number(new URL(server.url).port)
  const request = () => post('/trpc/order.submit', aUniqueOrder())
  await measureHttp({ port, connections: 8, seconds: 1, perSecond: 100, request })
  return (await measureHttp({ port, connections: 8, seconds: 8, perSecond: 100, request })).p50Ms
}

async function backlogAndSize(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const server = await startServer({ DATABASE_URL: url, ...quiet })
  const empty = await calmP50(server)
  report('p50 of an order, empty table', empty, 'ms')
  await fill(client, 50_000, 'Pending')
  const backlog = await calmP50(server)
  report('p50 with 100,000 mails waiting', backlog, `ms, ${(backlog / empty).toFixed(2)} ×`)
  await fill(client, 1_000_000, 'Sent')
  await client.query('VACUUM ANALYZE')
  const full = await calmP50(server)
  report('p50 with 1,000,000 enquiries', full, 'ms')
  report('that is', full / empty, '× the empty table', { atMost: 1.2 })
  await server.stop()
  await client.end()
}
