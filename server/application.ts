import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Availability, createAvailability } from './database/availability.ts'
import type { Db } from './database/database.ts'
import { createOrders, type Orders, probeStorage } from './enquiries/orders.ts'
import { startRetention } from './enquiries/retention.ts'
import { createSubscribers } from './enquiries/subscribers.ts'
import type { Env } from './env.ts'
import { createApp, type Patience } from './http/app.ts'
import type { Site } from './http/site.ts'
import { recordEvent } from './mail/delivery.ts'
import { queueIfDue } from './mail/digest.ts'
import type { LoopParts } from './mail/loop.ts'
import { startOutbox } from './mail/outbox.ts'
import { readBacklog } from './mail/owed.ts'
import { startPosts } from './mail/posts.ts'
import { createMailer, type DeliveryEvent } from './mail/resend.ts'

/*
 * What works on an open database: orders in, mails out, and what looks after both. main.ts opens it in a process, the
 * tests in theirs.
 */

export interface ApplicationParts {
  db: Db
  log: Logger
  site: Site
  patience?: Patience | undefined
  pollMs?: number | undefined
}

export interface Application {
  app: ReturnType<typeof createApp>
  availability: Availability
  orders: Orders
  mails: ReturnType<typeof startMails>
  /** Answers for `leavingMs` more, in which a proxy learns of the end, and leaves mails under way `mailGraceMs`. */
  close(times: { leavingMs: number; mailGraceMs: number }): Promise<void>
}

export async function openApplication(
  env: Env,
  { db, log, site, patience, pollMs }: ApplicationParts,
): Promise<Application> {
  let leaving = false
  const availability = createAvailability(log, () => probeStorage(db))
  const mails = startMails(db, env, { log, availability, pollMs })
  const endRetention = startRetention(db, env.RETENTION_MONTHS, log)
  // Its code is not loaded where nobody reads it.
  const metrics = env.METRICS_PORT ? await (await import('./http/metrics.ts')).startMetrics(env, db) : undefined
  if (metrics) log.info(`Prometheus reads ${metrics.url}`)
  const orders = createOrders(db, {
    availability,
    log,
    onStored: mails.wake,
    isPosted: env.NOTIFY_URL !== undefined,
  })
  const subscribers = createSubscribers(db, { availability, log, onStored: mails.wake })
  const parts = { db, availability, site, log, orders, subscribers, mails, metrics, patience, leaving: () => leaving }
  const app = createApp(env, parts)
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

/** Sends what is owed, if there is a key, writes the digest of the day, and warns while mails wait too long. */
export function startMails(db: Db, env: Env, parts: LoopParts & { log: Logger }) {
  const { log } = parts
  const { RESEND_API_KEY: apiKey, RESEND_BASE_URL: baseUrl, MAIL_FROM: from, DIGEST_AT: digestAt } = env
  const outbox = apiKey ? startOutbox(db, createMailer({ apiKey, baseUrl, from }), env, parts) : undefined
  const posts = env.NOTIFY_URL ? startPosts(db, env, env.NOTIFY_URL, parts) : undefined
  everyMinute()
  const timer = outbox && setInterval(everyMinute, 60_000) // without a key nothing changes until the next start

  async function everyMinute() {
    if (outbox && digestAt)
      await queueIfDue(db, digestAt, new Date()).then(
        (isQueued) => isQueued && log.info('the digest of the day is queued for staff'),
        (error) => log.error({ err: error }, 'the digest could not be written; it is tried again in a minute'),
      )
    const backlog = await readBacklog(db).catch(() => undefined) // what cannot be read is told by whoever needs it
    const { overdue, oldestPendingSeconds, pending } = backlog ?? {}
    if (overdue) log.warn({ oldestPendingSeconds, pending }, 'mails wait longer than they should')
  }

  return {
    wake() {
      outbox?.wake()
      posts?.wake()
    },
    /** Resend tells what became of a mail. */
    recordEvent: (event: DeliveryEvent) => recordEvent(db, log, event),
    async stop(graceMs: number) {
      clearInterval(timer)
      await Promise.all([outbox?.stop(graceMs), posts?.stop(graceMs)])
    },
  }
}
