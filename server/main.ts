import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Db, openDatabase } from './database/database.ts'
import { createOrders } from './enquiries/orders.ts'
import { createSubscribers } from './enquiries/subscribers.ts'
import { type Env, readEnv } from './env.ts'
import { describeFailure } from './errors.ts'
import { createApp } from './http/app.ts'
import { watchMailBacklog } from './http/health.ts'
import type { Metrics } from './http/metrics.ts'
import { loadSite } from './http/site.ts'
import { createLogger } from './log.ts'
import { createMailer } from './mail/mailer.ts'
import { type Outbox, startOutbox } from './mail/outbox.ts'
import { migrationsFolder, projectRoot } from './project-root.ts'

/** How long this process still answers after it was told to end, so that no client is cut off while a proxy learns of it. */
const LEAVING_MS = 1000
const MAIL_GRACE_MS = 4000

try {
  await serve(readEnv(process.env))
} catch (error) {
  console.error(describeFailure(error))
  process.exit(1)
}

/** Opens everything in order, waits for the signal to end, and closes in reverse. */
async function serve(env: Env): Promise<void> {
  const signal = nextSignal()
  const publicUrl = env.PUBLIC_URL ?? `http://localhost:${env.PORT}`
  const log = createLogger(env.LOG_LEVEL)
  let leaving = false

  const opening = openDatabase({
    url: env.DATABASE_URL,
    dataDir: env.DATA_DIR,
    embeddedPort: env.EMBEDDED_DATABASE_PORT,
    migrations: migrationsFolder(),
    onConnectionError: (error) => log.warn({ err: error }, 'a database connection broke'),
  })
  const { site, compress } = loadSite(resolve(projectRoot(), 'dist/client'), publicUrl) // while the database answers
  const database = await opening
  const { db } = database
  for (const note of database.notes) log.info(note)
  if (site.size === 0) log.warn('no built pages: run `npm run build`, or use `npm run dev`')
  if (!env.RESEND_API_KEY) log.warn('RESEND_API_KEY is not set: mails wait in the table Quvera_Mail')

  const outbox = env.RESEND_API_KEY ? startMails(env.RESEND_API_KEY, env, db, log) : undefined
  const endWatch = watchMailBacklog(db, log)
  const metrics = env.METRICS_PORT ? await serveMetrics(env.HOST, env.METRICS_PORT, db) : undefined
  if (metrics) log.info(`Prometheus reads ${metrics.url}`)
  const app = createApp({
    db,
    site,
    publicUrl,
    logger: log,
    orders: createOrders(database, () => outbox?.wake()),
    subscribers: createSubscribers(db),
    mailEnabled: Boolean(outbox),
    leaving: () => leaving,
    trustProxy: env.TRUST_PROXY,
    rateLimitMax: env.RATE_LIMIT_MAX,
    observe: metrics?.observe,
  })
  await app.listen({
    host: env.HOST,
    port: env.PORT,
    listenTextResolver: (address) => `Quvera is at ${env.PUBLIC_URL ?? address}`,
  })
  compress().catch((error) => log.error({ err: error }, 'a page could not be compressed'))

  log.info({ signal: await signal }, 'ending')
  leaving = true
  await sleep(LEAVING_MS)
  await app.close()
  endWatch()
  await outbox?.stop(MAIL_GRACE_MS)
  await metrics?.close()
  await database.close()
  process.exit(0)
}

function startMails(apiKey: string, env: Env, db: Db, log: Logger): Outbox {
  const mailer = createMailer({ apiKey, baseUrl: env.RESEND_BASE_URL, from: env.MAIL_FROM, staff: env.STAFF_EMAILS })
  return startOutbox(db, mailer, { leaseSeconds: env.MAIL_LEASE_SECONDS, retrySeconds: env.MAIL_RETRY_SECONDS, log })
}

/** Its code is not loaded where nobody reads it. */
async function serveMetrics(host: string, port: number, db: Db): Promise<Metrics> {
  const { startMetrics } = await import('./http/metrics.ts')
  return startMetrics({ host, port, db })
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => done(signal))
  })
}
