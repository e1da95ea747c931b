import { messages } from '../../shared/order.ts'
import { CONSENT_VERSION, type Subscription } from '../../shared/subscription.ts'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import { NotStored } from './orders.ts'

export interface Subscribers {
  /**
   * Idempotent: an address that is there already is answered in the same way, which also tells nobody who is.
   * @throws NotStored
   */
  subscribe(subscription: Subscription): Promise<{ subscribed: true }>
}

export function createSubscribers(db: Db, availability: Pick<Availability, 'failed'>): Subscribers {
  return {
    async subscribe({ email }) {
      try {
        await db.subscriber.createMany({
          data: { email: email.toLowerCase(), consentVersion: CONSENT_VERSION },
          skipDuplicates: true,
        })
      } catch (cause) {
        availability.failed(cause)
        throw new NotStored('unavailable', messages.notSubscribed, cause)
      }
      return { subscribed: true }
    },
  }
}
