import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database } from './database/database.ts'
import { createDesk } from './desk/desk.ts'
import { createSignIn } from './desk/sign-in.ts'
import type { Env } from './env.ts'
import { staffCommand } from './format.ts'
import { createHttpServer, type Timeouts } from './http/server.ts'
import type { StaticPages } from './http/static-pages.ts'
import { recipientsOf } from './mail/of-enquiry.ts'
import { startSenders } from './mail/senders.ts'
import { createSubscribers } from './newsletter/subscribers.ts'
import { startDailyBackup } from './operations/daily-backup.ts'
import { createProblemReader } from './operations/problems.ts'
import { startRetention } from './operations/retention.ts'
import { createAvailability } from './orders/availability.ts'
import { createOrders, probeStorage } from './orders/orders.ts'

/* Everything that works on an open database: HTTP, orders, mails, retention, backups. Opened by serve.ts and by tests. */

interface ApplicationParts {
  database: Database
  log: Logger
  pages: StaticPages
  timeouts?: Timeouts | undefined
  pollMs?: number | undefined
  summaryWaitMs?: number | undefined
}

export async function openApplication(
  env: Env,
  { database, log, pages, timeouts, pollMs, summaryWaitMs }: ApplicationParts,
) {
  const { db } = database
  let isEnding = false
  const availability = createAvailability(log, (isUp) => probeStorage(db, isUp))
  // Without visitors only a sender, if there is one, meets an outage: it asks for the probe, which logs it.
  const onDatabaseAway = () => void (availability.isUp() && availability.check())
  const readProblems = createProblemReader(db, env)
  const ofStaff = () => readProblems({ withAddresses: true })
  const senders = startSenders(db, env, { log, pollMs, summaryWaitMs, onDatabaseAway, readProblems: ofStaff })
  if (!env.RESEND_API_KEY) warnOfProblems(readProblems, log) // without a key nothing changes until the next start
  const endRetention = startRetention(db, env.RETENTION_MONTHS, log)
  const endBackups = env.BACKUP_DIR ? startDailyBackup(database, env.BACKUP_DIR, log) : async () => {}
  // Loaded only where it is used: it costs start-up time.
  const metrics = env.METRICS_PORT ? await (await import('./metrics/metrics.ts')).startMetrics(env, db) : undefined
  if (metrics) log.info(`Prometheus reads ${metrics.url}`)
  const orders = createOrders(db, { availability, log, onStored: senders.wake, recipients: recipientsOf(env) })
  const subscribers = createSubscribers(db, { availability, log, onStored: senders.wake })
  const desk = createDesk(db, env, { onQueued: senders.wake, readProblems: ofStaff })
  const signIn = createSignIn(db, env, log)
  const context = {
    env,
    db,
    log,
    pages,
    availability,
    orders,
    readProblems,
    subscribers,
    desk,
    signIn,
    isEnding: () => isEnding,
  }
  const app = createHttpServer({ ...context, metrics, timeouts })
  return {
    app,
    orders,
    senders,
    signIn,
    /** Serves for `drainMs` more, so that proxies notice; then waits at most `graceMs` for requests and mails under way. */
    async close({ drainMs, graceMs }: { drainMs: number; graceMs: number }) {
      isEnding = true
      await sleep(drainMs)
      void endRetention() // one that is under way stops where the database is closed
      await endBackups()
      // Fastify closes idle connections once. A connection that is answered later would stay open for ten seconds.
      const idle = setInterval(() => app.server.closeIdleConnections(), 100)
      const deadline = setTimeout(() => app.server.closeAllConnections(), graceMs)
      await Promise.all([app.close().then(() => signIn.close(graceMs)), senders.stop(graceMs)]) // requests may ask for links
      clearInterval(idle)
      clearTimeout(deadline)
      await metrics?.close()
    },
  }
}

function warnOfProblems(readProblems: () => Promise<string[]>, log: Logger): void {
  readProblems().then(
    (problems) => {
      for (const problem of problems) log.warn(`${problem} See ${staffCommand('mails')}`)
    },
    () => undefined, // while the database is away
  )
}
