import type { Problem } from './order.ts'

/** What became of a form that was sent without scripts: what the page that answers it is made of. */
export interface FormOutcome {
  order?: Refused & {
    /** It may be stored all the same, under this key if one was made. */
    uncertain?: { submissionKey: string | undefined }
  }
  subscription?: Refused
  received?: Received
  link?: SubscriberLink
}

/** What the page of a subscriber's link says: `unknown` is a link that nobody has, or not any more. */
export type SubscriberLink = 'unconfirmed' | 'confirmed' | 'ended' | 'unknown' | 'failed'

/** What the page says that follows an order; the reference alone where the rest cannot be asked for. */
export interface Received {
  reference: string
  products?: string
  quantity?: string
  /** The day, as in 22 Nov 2026. */
  on?: string
  /** Which is not today: the same order was received before. */
  isEarlier?: boolean
}

export interface Refused {
  problem: Problem
  /** What was typed, by the names of the fields. */
  values: Record<string, string>
}
