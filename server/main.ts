import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createApp } from './app.ts'
import { DatabaseError, type Db, openDatabase } from './database.ts'
import { type Env, EnvError, readEnv } from './env.ts'
import { watchMailBacklog } from './health.ts'
import { createLogger, scrub } from './log.ts'
import { createMailer } from './mailer.ts'
import { MigrationError } from './migrate.ts'
import { createOrders } from './orders.ts'
import { type Outbox, startOutbox } from './outbox.ts'
import { loadSite } from './pages.ts'
import { securityHeaders } from './security.ts'
import { createSubscribers } from './subscribers.ts'

/** How long this process still answers after it was told to end, so that no client is cut off while a proxy learns of it. */
const LEAVING_MS = 1000
const MAIL_GRACE_MS = 4000

try {
  await serve(readEnv(process.env))
} catch (error) {
  console.error(oneLine(error))
  process.exit(1)
}

/** Opens everything in order, waits for the signal to end, and closes in reverse. */
async function serve(env: Env): Promise<void> {
  const signal = nextSignal()
  const root = projectRoot()
  const publicUrl = env.PUBLIC_URL ?? `http://localhost:${env.PORT}`
  const log = createLogger(env.LOG_LEVEL)
  let leaving = false

  const [{ site, compress }, { db, notes, close }] = await Promise.all([
    loadSite(resolve(root, 'dist/client'), publicUrl, securityHeaders(publicUrl)),
    openDatabase({
      url: env.DATABASE_URL,
      dataDir: env.DATA_DIR,
      embeddedPort: env.EMBEDDED_DATABASE_PORT,
      migrations: resolve(root, 'prisma/migrations'),
      onConnectionError: (error) => log.warn({ err: error }, 'a database connection broke'),
    }),
  ])
  for (const note of notes) log.info(note)
  if (site.size === 0) log.warn('no built pages: run `npm run build`, or use `npm run dev`')
  if (!env.RESEND_API_KEY) log.warn('RESEND_API_KEY is not set: mails wait in the table Quvera_Mail')

  const outbox = env.RESEND_API_KEY ? startMails(env.RESEND_API_KEY, env, db, log) : undefined
  const endWatch = watchMailBacklog(db, log)
  const app = createApp({
    db,
    site,
    publicUrl,
    logger: log,
    orders: createOrders(db, () => outbox?.wake()),
    subscribers: createSubscribers(db),
    mailEnabled: Boolean(outbox),
    leaving: () => leaving,
    trustProxy: env.TRUST_PROXY,
    rateLimitMax: env.RATE_LIMIT_MAX,
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
  await close()
  process.exit(0)
}

function startMails(apiKey: string, env: Env, db: Db, log: Logger): Outbox {
  const mailer = createMailer({ apiKey, baseUrl: env.RESEND_BASE_URL, from: env.MAIL_FROM, staff: env.STAFF_EMAILS })
  return startOutbox(db, mailer, { leaseSeconds: env.MAIL_LEASE_SECONDS, retrySeconds: env.MAIL_RETRY_SECONDS, log })
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => done(signal))
  })
}

/** This file runs as server/main.ts and as dist/server/main.js; the migrations and the built pages stay where they are. */
function projectRoot(): string {
  const candidates = ['..', '../..'].map((path) => resolve(import.meta.dirname, path))
  return candidates.find((path) => existsSync(resolve(path, 'prisma/migrations'))) ?? process.cwd()
}

/** What an operator can act on; the stack only of what nobody foresaw. */
function oneLine(error: unknown): string {
  if (error instanceof EnvError)
    return `The environment has ${error.message.includes('\n') ? 'problems' : 'a problem'}:\n${error.message}`
  if (error instanceof MigrationError) return error.message
  if (error instanceof DatabaseError) return scrub(error.message)
  if (error instanceof Error && 'code' in error) {
    if (error.code === 'EADDRINUSE') return `${error.message.replace(/^listen /, '')}. Choose another PORT.`
    return scrub(error.message)
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
