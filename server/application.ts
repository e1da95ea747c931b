import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Availability, createAvailability } from './database/availability.ts'
import type { Db } from './database/database.ts'
import { createOrders, type Orders, probeStorage } from './enquiries/orders.ts'
import { startRetention } from './enquiries/retention.ts'
import { createSubscribers } from './enquiries/subscribers.ts'
import type { Env } from './env.ts'
import { createApp } from './http/app.ts'
import type { Metrics, MetricsOptions } from './http/metrics.ts'
import type { SecurityOptions } from './http/security.ts'
import type { Site } from './http/site.ts'
import { watchMailBacklog } from './mail/backlog.ts'
import { logChanges, recordEvent } from './mail/delivery.ts'
import { startDigest } from './mail/digest-schedule.ts'
import { createMailer } from './mail/mailer.ts'
import { type Outbox, startOutbox } from './mail/outbox.ts'

/*
 * What works on an open database: orders in, mails out, and what looks after both. main.ts opens it in a process, the
 * tests in theirs.
 */

export interface ApplicationParts {
  db: Db
  log: Logger
  site: Site
}

export interface Application {
  app: ReturnType<typeof createApp>
  availability: Availability
  orders: Orders
  /** Without a key there is none: mails wait. */
  outbox: Outbox | undefined
  /** Answers for `leavingMs` more, in which a proxy learns of the end, and leaves mails under way `mailGraceMs`. */
  close(times: { leavingMs: number; mailGraceMs: number }): Promise<void>
}

export async function openApplication(env: Env, { db, log, site }: ApplicationParts): Promise<Application> {
  let leaving = false
  const availability = createAvailability(log, () => probeStorage(db))
  const outbox = openOutbox(env, { db, log, availability })
  const endWatch = watchMailBacklog(db, log)
  const endDigest = outbox && env.DIGEST_AT ? startDigest(db, env.DIGEST_AT, log) : undefined
  const endRetention = env.RETENTION_MONTHS ? startRetention(db, env.RETENTION_MONTHS, log) : undefined
  const metrics = env.METRICS_PORT
    ? await serveMetrics({ host: env.HOST, port: env.METRICS_PORT, db, mailEnabled: Boolean(outbox) })
    : undefined
  if (metrics) log.info(`Prometheus reads ${metrics.url}`)
  const orders = createOrders(db, { availability, log, onStored: () => outbox?.wake() })
  const app = createApp({
    ...securityOf(env),
    ownOrigins: env.PUBLIC_URL ? [env.PUBLIC_URL, ...env.PUBLIC_URL_ALIASES] : [],
    db,
    availability,
    site,
    logger: log,
    orders,
    subscribers: createSubscribers(db, availability),
    leaving: () => leaving,
    webhookSecret: env.RESEND_WEBHOOK_SECRET,
    recordEvent: async (event) => logChanges(log, await recordEvent(db, event)),
    trustProxy: env.TRUST_PROXY,
    rateLimitMax: env.RATE_LIMIT_MAX,
    observe: metrics?.observe,
  })
  return {
    app,
    availability,
    orders,
    outbox,
    async close({ leavingMs, mailGraceMs }) {
      leaving = true
      await sleep(leavingMs)
      await app.close()
      endWatch()
      endDigest?.()
      endRetention?.()
      await outbox?.stop(mailGraceMs)
      await metrics?.close()
      availability.close()
    },
  }
}

export function securityOf(env: Env): SecurityOptions {
  return { publicUrl: env.PUBLIC_URL ?? `http://localhost:${env.PORT}`, hstsPreload: env.HSTS_PRELOAD }
}

/** Sends the mails that are owed, if there is a key. */
export function openOutbox(
  env: Env,
  parts: Omit<ApplicationParts, 'site'> & { availability: Availability },
): Outbox | undefined {
  if (!env.RESEND_API_KEY) return undefined
  const mailer = createMailer({ apiKey: env.RESEND_API_KEY, baseUrl: env.RESEND_BASE_URL, from: env.MAIL_FROM })
  return startOutbox(parts.db, mailer, {
    ...parts,
    staff: env.STAFF_EMAILS,
    leaseSeconds: env.MAIL_LEASE_SECONDS,
    retrySeconds: env.MAIL_RETRY_SECONDS,
    dailyBudget: env.MAIL_DAILY_BUDGET,
    maxAgeDays: env.MAIL_MAX_AGE_DAYS,
    toldOfDelivery: env.RESEND_WEBHOOK_SECRET !== undefined,
  })
}

/** Its code is not loaded where nobody reads it. */
async function serveMetrics(options: MetricsOptions): Promise<Metrics> {
  const { startMetrics } = await import('./http/metrics.ts')
  return startMetrics(options)
}
