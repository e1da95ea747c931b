/** `npm run bench:orders`: orders a second, each durable in PostgreSQL before it is answered, beside what one would use instead. */
import { mkdtemp } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { SERVER } from '../support/server-process.ts'
import type { Measured } from './http-load.ts'
import { median, missed, report } from './report.ts'
import { type OrderMeasured, startHttpTarget, startServerOfSameVersion, type Target } from './targets.ts'

const CONNECTIONS = [1, 32, 256]
// Short and many: the machine gets faster and slower within seconds.
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15)
const CALM_ROUNDS = 7
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1)

const postgres = await startServerOfSameVersion()
const fast = await startFakeResend()
const ours = { ...SERVER, path: '/trpc/order.submit' }
const quvera = await startHttpTarget(postgres, { name: 'Quvera', ...ours })
const bare = await startHttpTarget(postgres, {
  name: 'bare Fastify + pg',
  entry: 'tests/bench/rivals/fastify-pg.ts',
  path: '/order',
})
const embedded = await startHttpTarget(postgres, {
  name: 'Quvera, embedded database',
  ...ours,
  env: { DATA_DIR: await mkdtemp(join(tmpdir(), 'quvera-bench-')) },
})
const targets: Target[] = [
  await startHttpTarget(postgres, {
    name: 'Express + tRPC + Prisma',
    entry: 'tests/bench/rivals/express-trpc-prisma.ts',
    path: '/trpc/order.submit',
  }),
  bare,
  quvera,
  embedded,
  await startHttpTarget(postgres, {
    name: 'Quvera, mails going out',
    ...ours,
    env: sendingThrough(fast),
  }),
]

const results = new Map<string, OrderMeasured[]>()
for (const target of targets) await target.measure({ connections: 32, seconds: 2 }) // warm
for (let round = 0; round < ROUNDS; round++) {
  for (const connections of CONNECTIONS) {
    for (const target of round % 2 ? targets.toReversed() : targets) {
      const key = `${target.name} ${connections}`
      results.set(key, [...(results.get(key) ?? []), await target.measure({ connections, seconds: SECONDS })])
    }
  }
}
const CALM = { connections: 8, seconds: 3, perSecond: 100 }
const calm: Record<'quvera' | 'embedded' | 'bare', OrderMeasured[]> = { quvera: [], embedded: [], bare: [] }
for (let round = 0; round < CALM_ROUNDS; round++) {
  calm.quvera.push(await quvera.measure(CALM))
  calm.embedded.push(await embedded.measure(CALM))
  calm.bare.push(await bare.measure(CALM))
}

const table = targets.map(({ name }) => ({
  name,
  ...Object.fromEntries(
    CONNECTIONS.map((connections) => [connections, medianRun(results.get(`${name} ${connections}`) ?? [])]),
  ),
})) as ({ name: string } & Record<number, OrderMeasured>)[]

console.log(
  `\n${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, PostgreSQL with default fsync; medians of ${ROUNDS} interleaved rounds of ${SECONDS} s\n`,
)
console.log('| orders/s (p50 / p99 ms) | 1 connection | 32 | 256 | server CPU an order at 32 |\n|---|---|---|---|---|')
for (const row of table) {
  const cells = CONNECTIONS.map((connections) => cell(row[connections]))
  console.log(`| ${row.name} | ${cells.join(' | ')} | ${row[32]?.cpuMicrosAnOrder.toFixed(0)} µs |`)
}
const p50 = (all: OrderMeasured[]) => median(all.map((one) => one.p50Ms))
const p99 = (all: OrderMeasured[]) => median(all.map((one) => one.p99Ms))
console.log(`\nA calm 100 orders/s, medians of ${CALM_ROUNDS}:`)
for (const [name, all] of [
  ['Quvera', calm.quvera],
  ['Quvera, embedded database', calm.embedded],
  ['bare Fastify + pg', calm.bare],
] as const)
  console.log(`${name}: p50 ${p50(all).toFixed(2)} ms, p99 ${p99(all).toFixed(2)} ms`)

const of = (name: string, connections: number) => table.find((row) => row.name === name)?.[connections]
const ratio = (name: string, other: string, connections: number) =>
  (of(name, connections)?.perSecond ?? Number.NaN) / (of(other, connections)?.perSecond ?? Number.NaN)
const FLOORS = [
  ['Express + tRPC + Prisma', 32, 3.5],
  ['Express + tRPC + Prisma', 256, 3.5],
  ['bare Fastify + pg', 32, 0.85],
] as const
for (const [other, connections, atLeast] of FLOORS)
  report(`Quvera / ${other} at ${connections}`, ratio('Quvera', other, connections), '×', { atLeast })
report('Quvera / bare Fastify + pg at 256', ratio('Quvera', 'bare Fastify + pg', 256), '×')
report('p50 of a calm 100 orders/s / bare Fastify + pg', p50(calm.quvera) / p50(calm.bare), '×', { atMost: 1.8 })
report('embedded / PostgreSQL at 32', ratio('Quvera, embedded database', 'Quvera', 32), '×', { atLeast: 0.9 })
report('p50 of a calm 100 orders/s, embedded / PostgreSQL', p50(calm.embedded) / p50(calm.quvera), '×', { atMost: 1.2 })
report('mails going out / without at 32', ratio('Quvera, mails going out', 'Quvera', 32), '×', { atLeast: 0.5 })
const p50AtOne = (name: string) => of(name, 1)?.p50Ms ?? Number.NaN
report('p50 at one, mails going out / without', p50AtOne('Quvera, mails going out') / p50AtOne('Quvera'), '×', {
  atMost: 2,
})
for (const target of targets) target.close()
await fast.close()
await postgres.close()
process.exit(missed.length ? 1 : 0)

function medianRun<T extends Measured>(all: T[]): T {
  return [...all].sort((a, b) => a.perSecond - b.perSecond)[Math.floor(all.length / 2)] as T
}

function cell(measured: Measured | undefined): string {
  if (!measured) return ''
  const { perSecond, p50Ms, p99Ms } = measured
  return `${Math.round(perSecond).toLocaleString('en')} (${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)})`
}
