import type { Subscription } from '../shared/subscription.ts'

export interface Subscribers {
  /** Idempotent: an address that is there already is answered in the same way. */
  subscribe(subscription: Subscription): Promise<{ subscribed: true }>
}
