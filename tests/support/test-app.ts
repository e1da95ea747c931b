import { Writable } from 'node:stream'
import { promisify } from 'node:util'
import pino from 'pino'
import { openApplication } from '../../server/app.ts'
import { type Env, readEnv } from '../../server/env.ts'
import type { Timeouts } from '../../server/http/server.ts'
import type { StaticPages } from '../../server/http/static-pages.ts'
import { serializers } from '../../server/log.ts'
import { type DeliveryEvent, recordEvent } from '../../server/mail/delivery.ts'
import { startSenders } from '../../server/mail/senders.ts'
import { eventually } from './eventually.ts'
import { STAFF, startFakeResend } from './fake-resend.ts'
import { emptyDatabase, openTestDatabase } from './open-test-database.ts'

const FROM = 'Quvera <a@quvera.example>'
export const PUBLIC_URL = 'http://quvera.test'
/** Polls come sooner than on a site. */
const POLL_MS = 100

interface OfSenders {
  from?: string
  /** '': none */
  apiKey?: string
}

/** The whole server in this process, listening on loopback, with a database of its own and a fake Resend. */
export async function startTestApp({
  rateLimitMax = 0,
  mails = true,
  staff = [STAFF],
  trustProxy = [] as string[],
  dailyBudget = 0,
  webhookSecret = undefined as string | undefined,
  pages = new Map() as StaticPages,
  metricsPort = 0,
  timeouts = undefined as Timeouts | undefined,
  pollMs = POLL_MS,
  publicUrl = PUBLIC_URL,
  publicUrlAliases = [] as string[],
  newsletter = true,
  notify = {} as Partial<Pick<Env, 'NOTIFY_URL' | 'NOTIFY_SECRET' | 'NOTIFY_FORMAT'>>,
} = {}) {
  const [database, resend] = await Promise.all([openTestDatabase(), startFakeResend()])
  const logLines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      logLines.push(String(chunk))
      done()
    },
  })
  const logger = pino({ level: 'debug', serializers }, stream)
  const env = {
    ...readEnv({}),
    ...notify,
    PUBLIC_URL: publicUrl || undefined,
    PUBLIC_URL_ALIASES: publicUrlAliases,
    TRUST_PROXY: trustProxy,
    RATE_LIMIT_MAX: rateLimitMax,
    METRICS_PORT: metricsPort,
    RESEND_API_KEY: 're_test',
    RESEND_BASE_URL: resend.url,
    RESEND_WEBHOOK_SECRET: webhookSecret,
    MAIL_FROM: FROM,
    DIGEST_AT: 'off',
    STAFF_EMAILS: staff,
    MAIL_LEASE_SECONDS: 2,
    MAIL_RETRY_SECONDS: 0.1,
    MAIL_DAILY_BUDGET: dailyBudget,
  }
  const render = pages.size > 0 ? (await import('../../client/renderer.tsx')).renderOutcome : undefined
  const parts = { database, log: logger, pages, render, timeouts, pollMs, newsletter }
  const { app, orders, senders, signIn, close } = await openApplication(
    { ...env, RESEND_API_KEY: mails ? env.RESEND_API_KEY : undefined },
    parts,
  )
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    ...database,
    url,
    resend,
    orders,
    logLines,
    /** How many log lines have these words. */
    countLogged: (words: string) => logLines.filter((line) => line.includes(words)).length,
    /** The log lines of level error and more. */
    loggedErrors: () => logLines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50),
    /** The connections that the server has open. */
    connections: () => promisify(app.server.getConnections.bind(app.server))(),
    senders,
    signIn,
    /** Resend tells what became of a mail. */
    recordEvent: (event: DeliveryEvent) => recordEvent(database.db, logger, event),
    /** Starts further senders on this database, as another process would. */
    startSenders: ({ from = FROM, apiKey = 're_test', ...changes }: Partial<Env> & OfSenders = {}) =>
      startSenders(
        database.db,
        { ...env, MAIL_FROM: from, RESEND_API_KEY: apiKey, ...changes },
        { log: logger, pollMs, readProblems: async () => [] },
      ),
    /** As at the start of a test: no rows, and nothing sent or logged. */
    reset: async () => {
      resend.behaviour = 'accept'
      resend.onMail = undefined
      await emptyDatabase(database.db)
      await eventually(() => resend.calls.underWay === 0)
      resend.mails.length = 0
      Object.assign(resend.calls, { all: 0, limited: 0 })
      logLines.length = 0
    },
    close: async () => {
      await close({ drainMs: 0, graceMs: 0 })
      await database.close()
      await resend.close()
    },
  }
}

export type TestApp = Awaited<ReturnType<typeof startTestApp>>
