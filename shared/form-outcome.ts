import type { Problem } from './order.ts'

/** The page after an order. Not in page-paths.ts, because main.ts would load the catalogue with it. */
export const RECEIVED_PATH = '/received'

export const receivedUrl = (reference: string) => `${RECEIVED_PATH}?reference=${reference}`

/** The result of a form that was sent without scripts. The page that answers it is rendered from this. */
export interface FormOutcome {
  order?: RefusedOrder
  refusedSubscription?: Refused
  received?: Received
  subscriptionState?: SubscriptionState
}

/** The state that the page of a subscriber's link shows. `unknown`: no such link, or no longer. */
export type SubscriptionState = 'unconfirmed' | 'confirmed' | 'ended' | 'unknown' | 'failed'

/** A received order. Only the reference if the database is unavailable or the client is over its limit. */
export interface Received {
  reference: string
  products?: string
  quantity?: string
  /** Such as `22 Nov 2026 14:05 IST`. */
  receivedAt?: string
  isEarlier?: boolean
}

export interface Refused {
  problem: Problem
  values: Record<string, string>
}

export interface RefusedOrder extends Refused {
  /** The order may be stored under this key, by this request or an earlier one. The page keeps it in a hidden field. */
  submissionKey?: string | undefined
  /** `unread`: the server answered before it read a field of the form. `uncertain`: this request may have stored the order. */
  note?: 'unread' | 'uncertain' | undefined
}
