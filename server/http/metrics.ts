import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Vitals } from '../../shared/vitals.ts'
import type { Db } from '../database/database.ts'
import { readHours, readOldestNew } from '../enquiries/oldest-new.ts'
import { countStates, readBacklog } from '../mail/owed.ts'
import { type Answered, ORDER_FORM } from './app.ts'
import { statusPage, type VitalsRow } from './status-page.ts'

export interface Metrics {
  url: string
  /** Counts a request that was answered. */
  observe(answered: Answered): void
  /** Counts how fast a page was for somebody. */
  observeVitals(vitals: Vitals): void
  close(): Promise<void>
}

export interface MetricsOptions {
  host: string
  port: number
  db: Db
  /** Whether mails are sent at all: without a key they wait. */
  mailEnabled: boolean
}

/** With the bounds of what is called good and poor: of LCP 2.5 and 4 s, of INP 0.2 and 0.5, of TTFB 0.8 and 1.8. */
const VITALS_S = [0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 1.8, 2.5, 4, 6, 10]
/** Good is to 0.1, poor from 0.25. */
const SHIFTS = [0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1]
const DURATIONS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Serves `/metrics` in Prometheus' format, and `/status` for people, at a port of its own, which visitors do not reach. */
export async function startMetrics({ host, port, db, mailEnabled }: MetricsOptions): Promise<Metrics> {
  const registry = new Registry()
  const { tellOwed, readVitals, ...observers } = createFigures(registry)
  const server = createServer(async ({ url, headers }, response) => {
    if (url !== '/metrics' && url !== '/status') return response.writeHead(404).end()
    const owed = await readOwed(db)
    tellOwed(owed)
    const status = owed
      ? { database: 'ok', mail: { enabled: mailEnabled, ...owed.backlog }, enquiries: owed.enquiries }
      : { database: 'unreachable' }
    if (url === '/metrics') response.setHeader('content-type', registry.contentType).end(await registry.metrics())
    else if (headers.accept?.includes('text/html'))
      response
        .setHeader('content-type', 'text/html; charset=utf-8')
        .end(statusPage(owed && (await readDay(owed).catch(() => undefined))))
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(status))
  })
  async function readDay({ backlog, enquiries }: NonNullable<Owed>) {
    const { oldestPendingSeconds } = backlog
    const waiting = { mailEnabled, oldestPendingSeconds, oldestNewSeconds: enquiries.oldestNewSeconds }
    return { ...waiting, hours: await readHours(db), mails: await countStates(db), vitals: await readVitals() }
  }
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(port, host, done)
  })
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/metrics`,
    ...observers,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

type Owed = Awaited<ReturnType<typeof readOwed>>

/** What we owe, mails and answers; undefined when the database does not answer. */
async function readOwed(db: Db) {
  try {
    const backlog = await readBacklog(db)
    const oldest = await readOldestNew(db)
    return { backlog, enquiries: { new: oldest?.count ?? 0, oldestNewSeconds: oldest?.seconds ?? 0 } }
  } catch {
    return undefined
  }
}

function createFigures(registry: Registry) {
  collectDefaultMetrics({ register: registry })
  const described = (name: string, help: string) => ({ name: `quvera_${name}`, help, registers: [registry] })
  const durations = new Histogram({
    ...described('request_seconds', 'How long requests took, by route and status'),
    labelNames: ['route', 'status'],
    buckets: DURATIONS_S,
  })
  const vitals = new Histogram({
    ...described('vitals_seconds', 'LCP, INP and TTFB of pages as browsers measured them'),
    labelNames: ['page', 'metric'],
    buckets: VITALS_S,
  })
  const shifts = new Histogram({
    ...described('vitals_shift', 'CLS of pages as browsers measured it'),
    labelNames: ['page', 'metric'],
    buckets: SHIFTS,
  })
  const orders = new Counter({
    ...described(
      'orders_total',
      'Orders by the status they were answered with: 200 is stored, or a repeat of one that is',
    ),
    labelNames: ['status'],
  })
  const up = new Gauge(described('database_up', '1 when the database answers'))
  const mails = new Gauge({ ...described('mails', 'Mails that are not sent, by state'), labelNames: ['state'] })
  const oldest = new Gauge(described('mail_oldest_pending_seconds', 'Age of the oldest mail that is still to be sent'))
  const oldestNew = new Gauge(
    described(
      'enquiry_oldest_new_seconds',
      'Age of the oldest enquiry whose status is still New; 0 when there is none',
    ),
  )
  return {
    observe({ route, status, ms }: Answered) {
      durations.observe({ route, status }, ms / 1000)
      if (route === 'order.submit' || route === ORDER_FORM) orders.inc({ status: status === 303 ? 200 : status })
    },
    observeVitals({ page, ...values }: Vitals) {
      for (const [metric, value] of Object.entries(values)) {
        if (metric === 'CLS') shifts.observe({ page, metric }, value)
        else vitals.observe({ page, metric }, value / 1000)
      }
    },
    async readVitals() {
      return [...quartiles(await vitals.get()), ...quartiles(await shifts.get())]
    },
    tellOwed(owed: Owed) {
      up.set(owed ? 1 : 0)
      if (!owed) return
      for (const state of ['pending', 'failed', 'unknown'] as const) mails.set({ state }, owed.backlog[state])
      oldest.set(owed.backlog.oldestPendingSeconds)
      oldestNew.set(owed.enquiries.oldestNewSeconds)
    },
  }
}

type Values = { value: number; metricName?: string; labels: Record<string, string | number> }[]

/** What three of four were at most, as Prometheus reckons it: evenly within a bucket, and at most the last bound. */
function quartiles({ values }: { values: Values }): VitalsRow[] {
  const sums = values.filter(({ metricName }) => metricName?.endsWith('_count'))
  return sums.map(({ labels: { page = '', metric = '' }, value: visits }) => {
    const buckets = values.filter(({ labels }) => labels.page === page && labels.metric === metric && 'le' in labels)
    const at = buckets.findIndex(({ value }) => value >= 0.75 * visits)
    const [before, bucket] = [
      buckets[at - 1] ?? { labels: { le: 0 }, value: 0 },
      buckets[at] ?? { labels: {}, value: 0 },
    ]
    const [from, to] = [Number(before.labels.le), Number(bucket.labels.le)] // the last one has no bound that is a number
    const within = (0.75 * visits - before.value) / (bucket.value - before.value)
    return { page: `${page}`, metric: `${metric}`, visits, quartile: to > 0 ? from + (to - from) * within : from }
  })
}
