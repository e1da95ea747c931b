/** `npm run bench:orders`: orders a second, each durable in PostgreSQL before it is answered, beside what one would use instead. */
import { mkdtemp } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { SERVER } from '../support/server-process.ts'
import { finish, median, report } from './report.ts'
import { type OrderMeasured, startHttpTarget, startServerOfSameVersion } from './targets.ts'

const CONNECTIONS = [1, 32, 256]
// Short and many: the machine gets faster and slower within seconds.
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15)
const CALM_ROUNDS = 7
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1)
const CALM = { connections: 8, seconds: 3, perSecond: 100 }

const postgres = await startServerOfSameVersion()
const resend = await startFakeResend()
const ours = { ...SERVER, path: '/trpc/order.submit' }
const DATA_DIR = await mkdtemp(join(tmpdir(), 'quvera-bench-'))
const express = await startHttpTarget(postgres, {
  name: 'Express + tRPC + Prisma',
  entry: 'tests/bench/rivals/express-trpc-prisma.ts',
  path: '/trpc/order.submit',
})
const bare = await startHttpTarget(postgres, {
  name: 'bare Fastify + pg',
  entry: 'tests/bench/rivals/fastify-pg.ts',
  path: '/order',
})
const quvera = await startHttpTarget(postgres, { name: 'Quvera', ...ours })
const embedded = await startHttpTarget(postgres, { name: 'Quvera, embedded database', ...ours, env: { DATA_DIR } })
const mailing = await startHttpTarget(postgres, {
  name: 'Quvera, mails going out',
  ...ours,
  env: sendingThrough(resend),
})
const targets = [express, bare, quvera, embedded, mailing]

const rounds: { name: string; connections: number; measured: OrderMeasured }[] = []
for (const target of targets) await target.measure({ connections: 32, seconds: 2 }) // warm
for (let round = 0; round < ROUNDS; round++) {
  for (const connections of CONNECTIONS) {
    for (const target of round % 2 ? targets.toReversed() : targets) {
      const measured = await target.measure({ connections, seconds: SECONDS })
      rounds.push({ name: target.name, connections, measured })
    }
  }
}
const calm = { quvera: [] as number[], embedded: [] as number[], bare: [] as number[] }
for (let round = 0; round < CALM_ROUNDS; round++) {
  calm.quvera.push((await quvera.measure(CALM)).p50Ms)
  calm.embedded.push((await embedded.measure(CALM)).p50Ms)
  calm.bare.push((await bare.measure(CALM)).p50Ms)
}

/** The round of median rate. */
function medianOf({ name }: { name: string }, connections: number): OrderMeasured {
  const all = rounds.filter((round) => round.name === name && round.connections === connections)
  const sorted = all.map(({ measured }) => measured).sort((a, b) => a.perSecond - b.perSecond)
  return sorted[Math.floor(sorted.length / 2)] as OrderMeasured
}
const ratio = (one: { name: string }, other: { name: string }, connections = 32) =>
  medianOf(one, connections).perSecond / medianOf(other, connections).perSecond

console.log(`\n${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, PostgreSQL with default fsync`)
console.log(`Medians of ${ROUNDS} interleaved rounds of ${SECONDS} s\n`)
console.log('| orders/s (p50 / p99 ms) | 1 connection | 32 | 256 | server CPU an order at 32 |\n|---|---|---|---|---|')
for (const target of targets) {
  const cells = CONNECTIONS.map((connections) => {
    const { perSecond, p50Ms, p99Ms } = medianOf(target, connections)
    return `${Math.round(perSecond).toLocaleString('en')} (${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)})`
  })
  console.log(`| ${target.name} | ${cells.join(' | ')} | ${medianOf(target, 32).cpuMicrosAnOrder.toFixed(0)} µs |`)
}
console.log()
report('Quvera / Express + tRPC + Prisma at 32', ratio(quvera, express), '×', { atLeast: 3.5 })
report('Quvera / bare Fastify + pg at 32', ratio(quvera, bare), '×', { atLeast: 0.85 })
report('Quvera / bare Fastify + pg at 256', ratio(quvera, bare, 256), '×', { atLeast: 0.9 })
report('embedded / PostgreSQL at 32', ratio(embedded, quvera), '×', { atLeast: 0.9 })
report('mails going out / without at 32', ratio(mailing, quvera), '×', { atLeast: 0.5 })
const p50Ratio = medianOf(mailing, 1).p50Ms / medianOf(quvera, 1).p50Ms
report('p50 at one connection, mails going out / without', p50Ratio, '×', { atMost: 2 })
const p50 = { quvera: median(calm.quvera), embedded: median(calm.embedded), bare: median(calm.bare) }
report('p50 of a calm 100 orders/s / bare Fastify + pg', p50.quvera / p50.bare, '×', { atMost: 2 })
report('p50 of a calm 100 orders/s, embedded / PostgreSQL', p50.embedded / p50.quvera, '×', { atMost: 1.2 })
for (const target of targets) target.close()
await resend.close()
await postgres.close()
finish()
