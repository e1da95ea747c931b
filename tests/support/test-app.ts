import { Writable } from 'node:stream'
import { promisify } from 'node:util'
import pino from 'pino'
import { createAvailability } from '../../server/database/availability.ts'
import { probeStorage } from '../../server/enquiries/insert-enquiries.ts'
import { createOrders } from '../../server/enquiries/orders.ts'
import { createSubscribers } from '../../server/enquiries/subscribers.ts'
import { createApp } from '../../server/http/app.ts'
import type { Site } from '../../server/http/site.ts'
import { serializers } from '../../server/log.ts'
import { logChanges, recordEvent } from '../../server/mail/delivery.ts'
import { createMailer } from '../../server/mail/mailer.ts'
import { startOutbox } from '../../server/mail/outbox.ts'
import { STAFF, startFakeResend } from './fake-resend.ts'
import { openTestDatabase } from './test-database.ts'

const FROM = 'Quvera <a@quvera.example>'
export const PUBLIC_URL = 'http://quvera.test'

/** The whole server in this process, listening on loopback, with a database of its own and a fake Resend. */
export async function startTestApp({
  rateLimitMax = 0,
  mails = true,
  trustProxy = [] as string[],
  dailyBudget = 0,
  webhookSecret = undefined as string | undefined,
  site = new Map() as Site,
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
  const { db } = database
  const availability = createAvailability(logger, () => probeStorage(db))
  const openOutbox = ({ from = FROM } = {}) =>
    startOutbox(db, createMailer({ apiKey: 're_test', baseUrl: resend.url, from }), {
      staff: [STAFF],
      leaseSeconds: 2,
      retrySeconds: 0.1,
      dailyBudget,
      maxAgeDays: 7,
      toldOfDelivery: webhookSecret !== undefined,
      availability,
      log: logger,
    })
  const outbox = mails ? openOutbox() : undefined
  const orders = createOrders(db, { availability, log: logger, onStored: () => outbox?.wake() })
  const app = createApp({
    db,
    availability,
    site,
    publicUrl: PUBLIC_URL,
    hstsPreload: false,
    logger,
    orders,
    subscribers: createSubscribers(db, availability),
    leaving: () => false,
    webhookSecret,
    recordEvent: async (event) => logChanges(logger, await recordEvent(db, event)),
    trustProxy,
    rateLimitMax,
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    ...database,
    url,
    resend,
    orders,
    logLines,
    /** How many there are, whatever the clients know of it. */
    connections: () => promisify(app.server.getConnections.bind(app.server))(),
    outbox,
    /** Another one, as another process would have it. */
    startOutbox: openOutbox,
    close: async () => {
      await app.close()
      await outbox?.stop(0)
      availability.close()
      await database.close()
      await resend.close()
    },
  }
}

export type TestApp = Awaited<ReturnType<typeof startTestApp>>
