import { TRPCError } from '@trpc/server'
import { messages } from '../../shared/order.ts'
import { CONSENT_VERSION, type Subscription } from '../../shared/subscription.ts'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'

export interface Subscribers {
  /** Idempotent: an address that is there already is answered in the same way, which also tells nobody who is. */
  subscribe(subscription: Subscription): Promise<{ subscribed: true }>
}

export function createSubscribers(db: Db, availability: Pick<Availability, 'failed'>): Subscribers {
  return {
    async subscribe({ email, website }) {
      const looksAutomated = Boolean(website?.trim())
      try {
        if (!looksAutomated) {
          await db.subscriber.createMany({
            data: { email: email.toLowerCase(), consentVersion: CONSENT_VERSION },
            skipDuplicates: true,
          })
        }
      } catch (cause) {
        availability.failed(cause)
        throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: messages.notSubscribed, cause })
      }
      return { subscribed: true }
    },
  }
}
