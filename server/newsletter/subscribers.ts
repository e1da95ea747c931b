import type { Logger } from 'pino'
import { messages } from '../../shared/order.ts'
import { CONSENT_VERSION, LINK_DAYS, type Subscription } from '../../shared/subscription.ts'
import { type Db, readNow, TRANSACTION } from '../database/database.ts'
import { isDatabaseRefusal } from '../database/errors.ts'
import type { Subscriber } from '../database/generated/client.ts'
import { isEqual, readToken } from '../database/page-token.ts'
import { RequestError } from '../http/errors.ts'

export type Subscribers = ReturnType<typeof createSubscribers>

interface SubscribersOptions {
  /** Is told of a database that does not answer. */
  availability: { failed(error: unknown): void }
  log: Pick<Logger, 'error'>
  onStored(): void
}

export function createSubscribers(db: Db, { availability, log, onStored }: SubscribersOptions) {
  let isRefused = false

  async function asRequestError<T>(work: PromiseLike<T>): Promise<T> {
    try {
      const result = await work
      isRefused = false
      return result
    } catch (cause) {
      if (!isDatabaseRefusal(cause)) availability.failed(cause)
      else if (!isRefused) log.error({ err: cause }, 'subscriptions cannot be stored') // orders may still be stored
      isRefused = isDatabaseRefusal(cause)
      throw new RequestError(503, messages.notSubscribed, { cause })
    }
  }

  return {
    /**
     * Stores the address and its confirmation mail. A stored address gets the same answer, so that nobody learns who
     * subscribes; a confirmed address stays as it is and gets no mail.
     */
    async subscribe({ email }: Subscription): Promise<{ subscribed: true }> {
      await asRequestError(insertSubscriber(db, email.toLowerCase()))
      setImmediate(onStored)
      return { subscribed: true }
    },
    async find(token: string): Promise<Subscriber | undefined> {
      const { id, key } = readToken(token)
      const row = await asRequestError(db.subscriber.findUnique({ where: { id } }))
      if (!row) return undefined
      const hasEnded = row.endsAt && row.endsAt <= (await asRequestError(readNow(db)))
      return !hasEnded && isEqual(row.secret, key) ? row : undefined
    },
    async confirm({ id }: Subscriber) {
      await asRequestError(db.$executeRaw`
        UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = now(), "EndsAt" = NULL
        WHERE "Id" = ${id}::uuid AND "ConfirmedAt" IS NULL`)
    },
    /**
     * Deletes the row. If a mail of the last 24 hours to it counts towards the limits, only ends the subscription: the row is
     * deleted a day later.
     */
    async end({ id }: Subscriber) {
      const ended = db.$transaction(async (transaction) => {
        await transaction.$executeRaw`
          DELETE FROM "Quvera_Subscriber" WHERE "Id" = ${id}::uuid AND NOT EXISTS (
            SELECT FROM "Quvera_Mail" WHERE "SubscriberId" = ${id}::uuid AND "FirstTriedAt" > now() - interval '24 hours')`
        await transaction.$executeRaw`
          UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = NULL, "EndsAt" = now() WHERE "Id" = ${id}::uuid`
      }, TRANSACTION)
      await asRequestError(ended)
    },
  }
}

/** The first statement locks the row, so that the second one sees what a concurrent request has written. */
async function insertSubscriber(db: Db, email: string): Promise<void> {
  await db.$transaction(async (transaction) => {
    await transaction.$executeRaw`
      INSERT INTO "Quvera_Subscriber" AS stored ("Email", "ConsentVersion", "EndsAt")
      VALUES (${email}, ${CONSENT_VERSION}, now() + make_interval(days => ${LINK_DAYS}))
      ON CONFLICT ("Email") DO UPDATE
        SET "SubscribedAt" = now(), "ConsentVersion" = excluded."ConsentVersion", "EndsAt" = excluded."EndsAt"
        WHERE stored."ConfirmedAt" IS NULL`
    await transaction.$executeRaw`
      INSERT INTO "Quvera_Mail" ("SubscriberId", "Kind", "Mailbox")
      SELECT "Id", 'Confirmation', "Quvera_mailbox"("Email") FROM "Quvera_Subscriber" subscriber
      WHERE "Email" = ${email} AND "ConfirmedAt" IS NULL AND NOT EXISTS (
        SELECT FROM "Quvera_Mail" WHERE "SubscriberId" = subscriber."Id"
          AND ("Status" = 'Pending' OR "FirstTriedAt" BETWEEN now() - interval '1 minute' AND now()))`
  }, TRANSACTION)
}
