import Fastify, { type FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { routeName } from '../http/server.ts'
import { readBackupAge } from '../operations/daily-backup.ts'
import { readOldestNewEnquiry } from '../operations/problems.ts'
import { readBacklog } from './backlog.ts'
import type { WebVitals } from './web-vitals.ts'

/** Includes the limits of good and poor: LCP 2.5 and 4 s, INP 0.2 and 0.5, TTFB 0.8 and 1.8. */
const VITAL_BUCKETS_S = [0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 1.8, 2.5, 4, 6, 10]
/** Good up to 0.1, poor from 0.25. */
const SHIFT_BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1]
/** Of an answer to an order: each is there from the start, so that Prometheus sees the first one as an increase. */
const ORDER_STATUSES = [200, 400, 403, 408, 409, 413, 415, 422, 429, 500, 503]
const DURATION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const MAIL_STATES = ['pending', 'failed', 'unknown', 'bounced', 'complained'] as const

/**
 * Serves `/metrics` for Prometheus at a port of its own, which visitors cannot reach.
 * @param orderRoutes the names of the routes that store an order
 */
export async function startMetrics(
  { HOST: host, METRICS_PORT: port, BACKUP_DIR: backupDir }: Env,
  db: Db,
  orderRoutes: string[],
) {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `quvera_${name}`, help, labelNames, registers })
  const histogram = (name: string, help: string, labelNames: string[], buckets: number[]) =>
    new Histogram({ name: `quvera_${name}`, help, labelNames, buckets, registers })

  collectDefaultMetrics({ register: registry })
  const durations = histogram(
    'request_seconds',
    'How long requests took, by route and status',
    ['route', 'status'],
    DURATION_BUCKETS_S,
  )
  const ofPages = ['page', 'metric']
  const vitals = histogram(
    'vitals_seconds',
    'LCP, INP and TTFB of pages as browsers measured them',
    ofPages,
    VITAL_BUCKETS_S,
  )
  const shifts = histogram('vitals_shift', 'CLS of pages as browsers measured it', ofPages, SHIFT_BUCKETS)
  const orders = new Counter({
    name: 'quvera_orders_total',
    help: 'Orders by status: 200 is stored, or was before',
    labelNames: ['status'],
    registers,
  })
  for (const status of ORDER_STATUSES) orders.inc({ status }, 0)
  const up = gauge('database_up', '1 when the database answers')
  const mails = gauge(
    'mails',
    'Mails that wait or did not arrive, by state; at most 50,000 that wait and 50,000 others are counted',
    ['state'],
  )
  const posts = gauge('posts', 'Posts that NOTIFY_URL has not accepted, by state; failed: given up', ['state'])
  const oldest = gauge('mail_oldest_pending_seconds', 'Age of the oldest mail to staff that is still to be sent')
  const oldestNew = gauge('enquiry_oldest_new_seconds', 'Age of the oldest enquiry that is still New')
  const backupAge =
    backupDir && gauge('backup_age_seconds', 'Age of the newest daily backup in BACKUP_DIR; +Inf when there is none')

  /** Reads by indexes: the cost does not grow with the number of rows. */
  async function readFigures() {
    const figures = await readBacklog(db)
    for (const state of MAIL_STATES) mails.set({ state }, figures[state])
    posts.set({ state: 'pending' }, figures.pendingPosts)
    posts.set({ state: 'failed' }, figures.failedPosts)
    oldest.set(figures.oldestPendingSeconds)
    oldestNew.set((await readOldestNewEnquiry(db))?.seconds ?? 0)
  }

  const server = Fastify({ forceCloseConnections: true })
  server.get('/metrics', async (_request, reply) => {
    const isUp = await readFigures().then(
      () => true,
      () => false,
    )
    up.set(isUp ? 1 : 0)
    if (backupAge) backupAge.set((await readBackupAge(backupDir)) ?? Number.POSITIVE_INFINITY)
    return reply.type(registry.contentType).send(await registry.metrics())
  })
  const url = await server.listen({ host, port })
  return {
    url: `${url}/metrics`,
    /** Counts what the whole application answers, and closes with it. */
    observeAnswers(app: FastifyInstance) {
      app.addHook('onResponse', (request, { statusCode: status, elapsedTime }, done) => {
        const route = routeName(request)
        durations.observe({ route, status }, elapsedTime / 1000)
        if (orderRoutes.includes(route)) orders.inc({ status: status === 303 ? 200 : status })
        done()
      })
      app.addHook('onClose', () => server.close())
    },
    observeWebVitals({ page, ...values }: WebVitals) {
      for (const [metric, measured] of Object.entries(values)) {
        if (metric === 'CLS') shifts.observe({ page, metric }, measured)
        else vitals.observe({ page, metric }, measured / 1000)
      }
    },
  }
}
