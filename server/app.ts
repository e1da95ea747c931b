import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { brand } from '../shared/brand.ts'
import { RECEIVED_PATH, YOUR_ENQUIRY_PATH } from '../shared/form-outcome.ts'
import { SUBSCRIPTION_PATH } from '../shared/page-paths.ts'
import type { Database } from './database/database.ts'
import { createDesk } from './desk/desk.ts'
import { versionOf } from './desk/pages.ts'
import { serveDesk } from './desk/routes.ts'
import { createSignIn } from './desk/sign-in.ts'
import type { Env } from './env.ts'
import { registerRateLimits } from './http/limits.ts'
import { registerOriginCheck, registerProxyCheck } from './http/origin.ts'
import { servePostedForms } from './http/posted-forms.ts'
import { createPageSender, type RenderOutcome } from './http/rendered-pages.ts'
import { createHttpServer, type Timeouts } from './http/server.ts'
import type { StaticPages } from './http/static-pages.ts'
import { servePages } from './http/static-pages.ts'
import { takeJson } from './http/trpc.ts'
import { serveResendEvents } from './mail/routes.ts'
import { startSenders } from './mail/senders.ts'
import { serveWebVitals } from './metrics/web-vitals.ts'
import { createSubscribeForm, serveSubscriptionLinks, serveSubscriptionProcedure } from './newsletter/routes.ts'
import { createSubscribers } from './newsletter/subscribers.ts'
import { startDailyBackup } from './operations/daily-backup.ts'
import { serveHealth } from './operations/health.ts'
import { createProblemReader } from './operations/problems.ts'
import { startRetention } from './operations/retention.ts'
import { createAvailability } from './orders/availability.ts'
import { createOrders } from './orders/orders.ts'
import { createProbes } from './orders/probes.ts'
import { createOrderForm, ORDER_FORM, ORDER_PROCEDURE, serveOrderProcedure, serveReceived } from './orders/routes.ts'
import { createYourEnquiry } from './orders/your-enquiry.ts'
import { serveYourEnquiry } from './orders/your-enquiry-routes.ts'
import { staffCommand } from './staff-command.ts'

/*
 * Makes the rooms on an open database and registers their routes. Opened by serve.ts and by tests. What the rooms share is in
 * http/ and database/; the linter keeps the order that CONTRIBUTING.md gives.
 */

interface ApplicationParts {
  database: Database
  log: Logger
  pages: StaticPages
  /** Without it the outcome of a form is sent as JSON. */
  render?: RenderOutcome | undefined
  timeouts?: Timeouts | undefined
  pollMs?: number | undefined
  /** Whether subscriptions are taken, confirmed and ended. */
  newsletter?: boolean | undefined
}

export async function openApplication(
  env: Env,
  { database, log, pages, render, timeouts, pollMs, newsletter = brand.newsletter }: ApplicationParts,
) {
  const { db } = database
  let isEnding = false
  const availability = createAvailability(log, createProbes(db, env))
  // Without visitors only a sender, if there is one, meets an outage: it asks for the probe, which logs it.
  const onDatabaseAway = () => void (availability.isUp() && availability.check())
  const readProblems = createProblemReader(db, env)
  const ofStaff = () => readProblems({ withAddresses: true })
  const senders = startSenders(db, env, { log, pollMs, onDatabaseAway, readProblems: ofStaff })
  if (!env.RESEND_API_KEY) warnOfProblems(readProblems, log) // without a key nothing changes until the next start
  const endRetention = startRetention(db, env, log)
  const endBackups = env.BACKUP_DIR ? startDailyBackup(database, env.BACKUP_DIR, log) : async () => {}
  const orders = createOrders(db, {
    ...{ availability, log, onStored: senders.wake },
    ...{ recipients: env, publicUrl: env.PUBLIC_URL },
  })
  const yourEnquiry = createYourEnquiry(db, { availability, onQueued: senders.wake, staff: env.STAFF_EMAILS })
  const subscribers = createSubscribers(db, { availability, log, onStored: senders.wake })
  const desk = createDesk(db, env, { onQueued: senders.wake, readProblems: ofStaff, version: versionOf(pages) })
  const signIn = createSignIn(db, env, log)
  // Loaded only where it is used: it costs start-up time.
  const metrics = env.METRICS_PORT
    ? await (await import('./metrics/metrics.ts')).startMetrics(env, db, [ORDER_PROCEDURE, ORDER_FORM])
    : undefined
  if (metrics) log.info(`Prometheus reads ${metrics.url}`)

  const app = createHttpServer({ env, log, pages, timeouts, isEnding: () => isEnding })
  metrics?.observeAnswers(app)
  serveHealth(app, { readProblems, availability, isEnding: () => isEnding })
  app.register(async (scope) => {
    registerProxyCheck(scope)
    const limits = await registerRateLimits(scope, env)
    const sendPage = createPageSender(pages, env, render)
    scope.register(async (visitors) => {
      registerOriginCheck(visitors, env)
      visitors.register(async (calls) => {
        takeJson(calls)
        serveOrderProcedure(calls, orders, limits)
        if (newsletter) serveSubscriptionProcedure(calls, subscribers, limits)
        if (metrics) serveWebVitals(calls, limits, metrics.observeWebVitals)
      })
      const forms = [createOrderForm(orders), ...(newsletter ? [createSubscribeForm(subscribers)] : [])]
      servePostedForms(visitors, forms, { limits, sendPage })
      serveReceived(visitors, orders, { pages, limits, sendPage })
      visitors.register((links) => serveYourEnquiry(links, yourEnquiry, { limits, sendPage }))
      if (newsletter) visitors.register((links) => serveSubscriptionLinks(links, subscribers, { limits, sendPage }))
      if (env.RESEND_WEBHOOK_SECRET)
        visitors.register(async (events) => serveResendEvents(events, { db, log, env }, limits))
    })
    scope.register((staff) => serveDesk(staff, { db, env, log, pages, desk, signIn }, limits))
  })
  servePages(app, pages, [RECEIVED_PATH, SUBSCRIPTION_PATH, YOUR_ENQUIRY_PATH])
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
    },
  }
}

function warnOfProblems(readProblems: () => Promise<string[]>, log: Logger): void {
  readProblems().then(
    (problems) => {
      for (const problem of problems) log.warn(`${problem} See ${staffCommand('check')}`)
    },
    () => undefined, // while the database is away
  )
}
