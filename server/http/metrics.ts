import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Db } from '../database/database.ts'
import { readOldestNew } from '../enquiries/oldest-new.ts'
import { readBacklog } from '../mail/owed.ts'
import type { Answered } from './app.ts'

export interface Metrics {
  url: string
  /** Counts a request that was answered. */
  observe(answered: Answered): void
  close(): Promise<void>
}

const DURATIONS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export interface MetricsOptions {
  host: string
  port: number
  db: Db
  /** Whether mails are sent at all: without a key they wait. */
  mailEnabled: boolean
}

/** Serves `/metrics` in Prometheus' format, and `/status` for people, at a port of its own, which visitors do not reach. */
export async function startMetrics(options: MetricsOptions): Promise<Metrics> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const durations = new Histogram({
    name: 'quvera_request_seconds',
    help: 'How long requests took, by route and status',
    labelNames: ['route', 'status'],
    buckets: DURATIONS_S,
    registers,
  })
  const orders = new Counter({
    name: 'quvera_orders_total',
    help: 'Orders by the status they were answered with: 200 is stored, or a repeat of one that is',
    labelNames: ['status'],
    registers,
  })
  const readBacklog = createBacklogGauges(options.db, registers)

  const server = createServer(async (request, response) => {
    if (request.url === '/status') return sendStatus(response, options)
    if (request.url !== '/metrics') return response.writeHead(404).end()
    await readBacklog()
    const text = await registry.metrics()
    response.writeHead(200, { 'content-type': registry.contentType }).end(text)
  })
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(options.port, options.host, done)
  })
  const { port } = server.address() as AddressInfo

  return {
    url: `http://${options.host}:${port}/metrics`,
    observe({ route, status, ms }) {
      durations.observe({ route, status }, ms / 1000)
      if (route === 'order.submit') orders.inc({ status })
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function sendStatus(response: ServerResponse, { db, mailEnabled }: MetricsOptions) {
  const read = await readOwed(db)
  const status = read
    ? { database: 'ok', mail: { enabled: mailEnabled, ...read.backlog }, enquiries: read.enquiries }
    : { database: 'unreachable' }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(status))
}

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

/** What is owed, mails and answers: what is returned reads it anew. */
function createBacklogGauges(db: Db, registers: Registry[]): () => Promise<void> {
  const up = new Gauge({ name: 'quvera_database_up', help: '1 when the database answers', registers })
  const mails = new Gauge({
    name: 'quvera_mails',
    help: 'Mails that are not sent, by state',
    labelNames: ['state'],
    registers,
  })
  const oldest = new Gauge({
    name: 'quvera_mail_oldest_pending_seconds',
    help: 'Age of the oldest mail that is still to be sent',
    registers,
  })
  const oldestNew = new Gauge({
    name: 'quvera_enquiry_oldest_new_seconds',
    help: 'Age of the oldest enquiry whose status is still New; 0 when there is none',
    registers,
  })
  return async () => {
    const read = await readOwed(db)
    up.set(read ? 1 : 0)
    if (!read) return
    for (const state of ['pending', 'failed', 'unknown'] as const) mails.set({ state }, read.backlog[state])
    oldest.set(read.backlog.oldestPendingSeconds)
    oldestNew.set(read.enquiries.oldestNewSeconds)
  }
}
