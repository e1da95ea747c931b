import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Availability, createAvailability } from './database/availability.ts'
import type { Db } from './database/database.ts'
import { createOrders, type Orders, probeStorage } from './enquiries/orders.ts'
import { startRetention } from './enquiries/retention.ts'
import { createSubscribers } from './enquiries/subscribers.ts'
import { type Env, publicUrlOf } from './env.ts'
import { createApp, type Patience } from './http/app.ts'
import type { Metrics, MetricsOptions } from './http/metrics.ts'
import type { SecurityOptions } from './http/security.ts'
import type { Site } from './http/site.ts'
import { type Mails, startMails } from './mail/mails.ts'

/*
 * What works on an open database: orders in, mails out, and what looks after both. main.ts opens it in a process, the
 * tests in theirs.
 */

export interface ApplicationParts {
  db: Db
  log: Logger
  site: Site
  patience?: Patience | undefined
}

export interface Application {
  app: ReturnType<typeof createApp>
  availability: Availability
  orders: Orders
  mails: Mails
  /** Answers for `leavingMs` more, in which a proxy learns of the end, and leaves mails under way `mailGraceMs`. */
  close(times: { leavingMs: number; mailGraceMs: number }): Promise<void>
}

export async function openApplication(env: Env, { db, log, site, patience }: ApplicationParts): Promise<Application> {
  let leaving = false
  const availability = createAvailability(log, () => probeStorage(db))
  const mails = startMails(db, env, { log, availability })
  const endRetention = startRetention(db, env.RETENTION_MONTHS, log)
  const metrics = env.METRICS_PORT
    ? await serveMetrics({ host: env.HOST, port: env.METRICS_PORT, db, mailEnabled: Boolean(env.RESEND_API_KEY) })
    : undefined
  if (metrics) log.info(`Prometheus reads ${metrics.url}`)
  const orders = createOrders(db, {
    availability,
    log,
    onStored: mails.wake,
    isPosted: env.NOTIFY_URL !== undefined,
  })
  const app = createApp({
    ...securityOf(env),
    ownOrigins: env.PUBLIC_URL ? [env.PUBLIC_URL, ...env.PUBLIC_URL_ALIASES] : [],
    db,
    availability,
    site,
    logger: log,
    orders,
    subscribers: createSubscribers(db, { availability, log, onStored: mails.wake }),
    leaving: () => leaving,
    patience,
    webhookSecret: env.RESEND_WEBHOOK_SECRET,
    recordEvent: mails.recordEvent,
    trustProxy: env.TRUST_PROXY,
    rateLimitMax: env.RATE_LIMIT_MAX,
    observe: metrics?.observe,
    observeVitals: metrics?.observeVitals,
  })
  return {
    app,
    availability,
    orders,
    mails,
    async close({ leavingMs, mailGraceMs }) {
      leaving = true
      await sleep(leavingMs)
      // Fastify does so once; what is answered later would keep its connection, and this process, for ten seconds.
      const idle = setInterval(() => app.server.closeIdleConnections(), 100)
      await app.close()
      clearInterval(idle)
      endRetention()
      await mails.stop(mailGraceMs)
      await metrics?.close()
      availability.close()
    },
  }
}

export function securityOf(env: Env): SecurityOptions {
  return { publicUrl: publicUrlOf(env), hstsPreload: env.HSTS_PRELOAD }
}

/** Its code is not loaded where nobody reads it. */
async function serveMetrics(options: MetricsOptions): Promise<Metrics> {
  const { startMetrics } = await import('./http/metrics.ts')
  return startMetrics(options)
}
