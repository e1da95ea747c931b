import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Availability, createAvailability } from './database/availability.ts'
import type { Db } from './database/database.ts'
import { openDatabase } from './database/open-database.ts'
import { probeStorage } from './enquiries/insert-enquiries.ts'
import { createOrders } from './enquiries/orders.ts'
import { startRetention } from './enquiries/retention.ts'
import { createSubscribers } from './enquiries/subscribers.ts'
import { type Env, readEnv } from './env.ts'
import { exitFor, OperatorError } from './errors.ts'
import { createApp } from './http/app.ts'
import type { Metrics, MetricsOptions } from './http/metrics.ts'
import { loadSite } from './http/site.ts'
import { createLogger } from './log.ts'
import { watchMailBacklog } from './mail/backlog.ts'
import { logChanges, recordEvent } from './mail/delivery.ts'
import { startDigest } from './mail/digest-schedule.ts'
import { createMailer } from './mail/mailer.ts'
import { type Outbox, startOutbox } from './mail/outbox.ts'
import { migrationsFolder, projectRoot } from './project-root.ts'

/** How long this process still answers after it was told to end, so that no client is cut off while a proxy learns of it. */
const LEAVING_MS = 1000
const MAIL_GRACE_MS = 4000
// A visitor is told within seconds that the order was not stored.
const QUERY_TIMEOUT_MS = 2000
const SIGNALS = ['SIGTERM', 'SIGINT'] as const

try {
  await serve(readEnv(process.env))
} catch (error) {
  exitFor(error)
}

/** Opens everything in order, waits for the signal to end, and closes in reverse. */
async function serve(env: Env): Promise<void> {
  for (const signal of SIGNALS) process.once(signal, exitAtOnce)
  refuseStandIns(env)
  const security = { publicUrl: env.PUBLIC_URL ?? `http://localhost:${env.PORT}`, hstsPreload: env.HSTS_PRELOAD }
  const log = createLogger(env.LOG_LEVEL)
  let leaving = false

  const opening = openDatabase({
    url: env.DATABASE_URL,
    dataDir: env.DATA_DIR,
    embeddedPort: env.EMBEDDED_DATABASE_PORT,
    migrations: migrationsFolder(),
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    onConnectionError: (error) => log.debug({ err: error }, 'a database connection broke'),
  })
  const { site, compress } = loadSite(resolve(projectRoot(), 'dist/client'), security) // while the database answers
  const database = await opening
  const { db } = database
  for (const note of database.notes) log.info(note)
  if (site.size === 0) log.warn('no built pages: run `npm run build`, or use `npm run dev`')
  if (!env.PUBLIC_URL) log.warn(`PUBLIC_URL is not set: links in the pages lead to ${security.publicUrl}`)
  if (!env.RESEND_API_KEY) log.warn('RESEND_API_KEY is not set: mails wait in the table Quvera_Mail')

  const availability = createAvailability(log, () => probeStorage(db))
  const outbox = env.RESEND_API_KEY ? startMails(env.RESEND_API_KEY, env, { db, availability, log }) : undefined
  const endWatch = watchMailBacklog(db, log)
  const endDigest = outbox && env.DIGEST_AT ? startDigest(db, env.DIGEST_AT, log) : undefined
  const endRetention = env.RETENTION_MONTHS ? startRetention(db, env.RETENTION_MONTHS, log) : undefined
  const metrics = env.METRICS_PORT
    ? await serveMetrics({ host: env.HOST, port: env.METRICS_PORT, db, mailEnabled: Boolean(outbox) })
    : undefined
  if (metrics) log.info(`Prometheus reads ${metrics.url}`)
  const app = createApp({
    ...security,
    db,
    availability,
    site,
    logger: log,
    orders: createOrders(db, { availability, log, onStored: () => outbox?.wake() }),
    subscribers: createSubscribers(db, availability),
    leaving: () => leaving,
    webhookSecret: env.RESEND_WEBHOOK_SECRET,
    recordEvent: async (event) => logChanges(log, await recordEvent(db, event)),
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

  log.info({ signal: await nextSignal() }, 'ending')
  leaving = true
  await sleep(LEAVING_MS)
  await app.close()
  endWatch()
  endDigest?.()
  endRetention?.()
  await outbox?.stop(MAIL_GRACE_MS)
  await metrics?.close()
  availability.close()
  await database.close()
  process.exit(0)
}

interface MailParts {
  db: Db
  availability: Availability
  log: Logger
}

function startMails(apiKey: string, env: Env, parts: MailParts): Outbox {
  const { db, log } = parts
  if (!env.RESEND_WEBHOOK_SECRET)
    log.info(
      'RESEND_WEBHOOK_SECRET is not set: what became of a mail is asked for later, which a sending-only key may not',
    )
  const mailer = createMailer({ apiKey, baseUrl: env.RESEND_BASE_URL, from: env.MAIL_FROM })
  return startOutbox(db, mailer, {
    ...parts,
    staff: env.STAFF_EMAILS,
    leaseSeconds: env.MAIL_LEASE_SECONDS,
    retrySeconds: env.MAIL_RETRY_SECONDS,
    dailyBudget: env.MAIL_DAILY_BUDGET,
    maxAgeDays: env.MAIL_MAX_AGE_DAYS,
    toldOfDelivery: env.RESEND_WEBHOOK_SECRET !== undefined,
  })
}

/** With a key mails go out: then nobody's address may stand in for the real ones. */
function refuseStandIns({ RESEND_API_KEY, MAIL_FROM, STAFF_EMAILS }: Env) {
  if (!RESEND_API_KEY) return
  const settings = { MAIL_FROM: [MAIL_FROM], STAFF_EMAILS }
  for (const [name, addresses] of Object.entries(settings)) {
    const standIn = addresses.find((address) => /\.example>?$/i.test(address))
    if (standIn)
      throw new OperatorError(`RESEND_API_KEY is set, but ${name} is still a stand-in (${standIn}): set your own.`)
  }
}

/** Its code is not loaded where nobody reads it. */
async function serveMetrics(options: MetricsOptions): Promise<Metrics> {
  const { startMetrics } = await import('./http/metrics.ts')
  return startMetrics(options)
}

/** Until everything is open there is nothing to close: a start that is called off survives it as it survives a kill. */
function exitAtOnce(signal: NodeJS.Signals) {
  process.exit(signal === 'SIGINT' ? 130 : 143)
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    for (const signal of SIGNALS) process.off(signal, exitAtOnce).once(signal, () => done(signal))
  })
}
