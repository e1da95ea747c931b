import { timingSafeEqual } from 'node:crypto'
import type { Logger } from 'pino'
import { messages } from '../../shared/order.ts'
import { SUBSCRIPTION_PATH } from '../../shared/page-paths.ts'
import { CONSENT_VERSION, type Subscription } from '../../shared/subscription.ts'
import type { Availability } from '../database/availability.ts'
import { readNow } from '../database/clock.ts'
import type { Db } from '../database/database.ts'
import type { Subscriber } from '../database/generated/client.ts'
import { isDatabaseRefusal } from '../errors.ts'
import { DAY_MS } from '../format.ts'
import { NotStored } from './orders.ts'

export type { Subscriber }

/** Who has not confirmed within so long is forgotten. */
export const UNCONFIRMED_DAYS = 30

export type Subscribers = ReturnType<typeof createSubscribers>

interface SubscribersOptions {
  availability: Pick<Availability, 'failed'>
  log: Pick<Logger, 'error'>
  /** Told after an address was stored: a mail may be owed. */
  onStored(): void
}

/** With it the address is confirmed, and the subscription ended. */
export function subscriptionLink({ id, secret }: Pick<Subscriber, 'id' | 'secret'>, publicUrl: string): string {
  return `${publicUrl}${SUBSCRIPTION_PATH}?token=${id}.${secret}`
}

export function createSubscribers(db: Db, { availability, log, onStored }: SubscribersOptions) {
  let isRefused = false

  /** @throws NotStored */
  async function told<T>(work: PromiseLike<T>): Promise<T> {
    try {
      const result = await work
      isRefused = false
      return result
    } catch (cause) {
      if (!isDatabaseRefusal(cause)) availability.failed(cause)
      else if (!isRefused) log.error({ err: cause }, 'subscriptions cannot be stored') // of orders it says nothing
      isRefused = isDatabaseRefusal(cause)
      throw new NotStored('unavailable', messages.notSubscribed, cause)
    }
  }

  return {
    /**
     * Stores the address, and the mail that asks to confirm it. One that is there already is answered in the same way,
     * which also tells nobody who is; confirmed, it stays as it is and gets no mail.
     */
    async subscribe({ email }: Subscription): Promise<{ subscribed: true }> {
      await told(insertSubscriber(db, email.toLowerCase()))
      setImmediate(onStored)
      return { subscribed: true }
    },
    /** Whose link holds this token; undefined once the row has gone. */
    async find(token: string): Promise<Subscriber | undefined> {
      const [, id, secret = ''] = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.([\da-f]{64})$/.exec(token) ?? []
      const row = id && (await told(db.subscriber.findUnique({ where: { id } })))
      if (!row || (row.endsAt && row.endsAt <= (await told(readNow(db))))) return undefined
      return timingSafeEqual(Buffer.from(row.secret), Buffer.from(secret)) ? row : undefined
    },
    async confirm({ id }: Subscriber) {
      await told(db.$executeRaw`
        UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = now(), "EndsAt" = NULL
        WHERE "Id" = ${id}::uuid AND "ConfirmedAt" IS NULL`)
    },
    /** The link ends at once, and the row goes: a day later where a mail was sent to it today, which goes on counting. */
    async end({ id }: Subscriber) {
      await told(
        db.$transaction([
          db.$executeRaw`
            DELETE FROM "Quvera_Subscriber" WHERE "Id" = ${id}::uuid AND NOT EXISTS (
              SELECT FROM "Quvera_Mail" WHERE "SubscriberId" = ${id}::uuid AND "TriedAt" > now() - interval '24 hours')`,
          db.$executeRaw`UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = NULL, "EndsAt" = now() WHERE "Id" = ${id}::uuid`,
        ]),
      )
    },
  }
}

/**
 * In one transaction, so that an address is not stored without the mail that asks. The first statement locks the row: so
 * the second one sees what the same form, sent at the same time, has written.
 */
async function insertSubscriber(db: Db, email: string): Promise<void> {
  await db.$transaction([
    db.$executeRaw`
      INSERT INTO "Quvera_Subscriber" AS stored ("Email", "ConsentVersion", "EndsAt")
      VALUES (${email}, ${CONSENT_VERSION}, now() + make_interval(days => ${UNCONFIRMED_DAYS - 1}))
      ON CONFLICT ("Email") DO UPDATE
        SET "SubscribedAt" = now(), "ConsentVersion" = excluded."ConsentVersion", "EndsAt" = excluded."EndsAt"
        WHERE stored."ConfirmedAt" IS NULL`,
    db.$executeRaw`
      INSERT INTO "Quvera_Mail" ("SubscriberId", "Kind", "Key")
      SELECT "Id", 'Confirmation', 'confirm/' || gen_random_uuid() FROM "Quvera_Subscriber" subscriber
      WHERE "Email" = ${email} AND "ConfirmedAt" IS NULL AND NOT EXISTS (
        SELECT FROM "Quvera_Mail" WHERE "SubscriberId" = subscriber."Id"
          AND ("Status" = 'Pending' OR "TriedAt" > now() - interval '1 minute'))`,
  ])
}

/**
 * Forgets who was asked to confirm and has not, and who has left, and returns how many. A restored address has no end yet:
 * it gets one, so that its link works for as long as any other.
 */
export async function deleteExpiredSubscribers(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - DAY_MS)
  const endsAt = new Date(now.getTime() + (UNCONFIRMED_DAYS - 1) * DAY_MS)
  await db.subscriber.updateMany({ where: { confirmedAt: null, endsAt: null }, data: { endsAt } })
  return (await db.subscriber.deleteMany({ where: { endsAt: { lt: before } } })).count
}
