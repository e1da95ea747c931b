import type { Logger } from 'pino'
import { messages } from '../../shared/order.ts'
import { CONSENT_VERSION, type Subscription } from '../../shared/subscription.ts'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import { isRefusal } from '../errors.ts'
import { NotStored } from './orders.ts'

export interface Subscribers {
  /**
   * Idempotent: an address that is there already is answered in the same way, which also tells nobody who is.
   * @throws NotStored
   */
  subscribe(subscription: Subscription): Promise<{ subscribed: true }>
}

interface SubscribersOptions {
  availability: Pick<Availability, 'failed'>
  log: Pick<Logger, 'error'>
}

export function createSubscribers(db: Db, { availability, log }: SubscribersOptions): Subscribers {
  let isRefused = false
  return {
    async subscribe({ email }) {
      try {
        await db.subscriber.createMany({
          data: { email: email.toLowerCase(), consentVersion: CONSENT_VERSION },
          skipDuplicates: true,
        })
      } catch (cause) {
        if (!isRefusal(cause)) availability.failed(cause)
        else if (!isRefused) log.error({ err: cause }, 'subscriptions cannot be stored') // of orders it says nothing
        isRefused = isRefusal(cause)
        throw new NotStored('unavailable', messages.notSubscribed, cause)
      }
      isRefused = false
      return { subscribed: true }
    },
  }
}
