import type { Problem } from './order.ts'

/** The page after an order. Not in page-paths.ts, because main.ts would load the catalogue with it. */
export const RECEIVED_PATH = '/received'

export const receivedUrl = (reference: string) => `${RECEIVED_PATH}?reference=${reference}`

/** The visitor's page. Its token stands in this address only. */
export const YOUR_ENQUIRY_PATH = '/your-enquiry'

export const yourEnquiryUrl = (token: string) => `${YOUR_ENQUIRY_PATH}?token=${token}`

/** The page after an act. After "This is not mine" the token has ended. */
export const actedUrl = (act: Act, token: string) =>
  act === 'notMine' ? `${YOUR_ENQUIRY_PATH}?done=${act}` : `${yourEnquiryUrl(token)}&done=${act}`

/** The result of a form that was sent without scripts. The page that answers it is rendered from this. */
export interface FormOutcome {
  order?: RefusedOrder
  refusedSubscription?: Refused
  received?: Receipt
  subscriptionState?: SubscriptionState
  yourEnquiry?: YourEnquiry | YourEnquiryFailed | 'gone' | 'notMine'
}

/** What a visitor can do with a stored enquiry, in the order of the page. It is the value of the field `act`. */
export const acts = ['mobile', 'quantity', 'email', 'withdraw', 'resume', 'keep', 'notMine', 'erase'] as const
export type Act = (typeof acts)[number]

/** The name of the field that an act takes, if it takes one. */
export const fieldOf = (act: Act) => (act === 'erase' ? 'reference' : act)

/** The page cannot be served. */
interface YourEnquiryFailed {
  /** Why. Without it the server has failed, and an act may have been carried out. */
  message?: string
  /** The act, and what was typed. */
  again?: { act: Act; token: string; value: string }
}

/** What the visitor's page shows, to whoever holds its link: not the name, and of number and address a part. */
export interface YourEnquiry {
  token: string
  reference: string
  products: string
  quantity: string
  receivedAt: string
  /** The last four digits. */
  mobile: string
  /** `a…a@shop.in` */
  email: string
  standing: Standing
  /** What the holder may do now. */
  may: Act[]
  /** What was done before this page. */
  done?: Act
  /** Why an act was refused, and what was typed. */
  problem?: { act: Act; message: string; value: string }
}

/** Where the enquiry stands: what staff did, fifteen minutes behind. Days such as `27 November`. */
export interface Standing {
  status: 'New' | 'Contacted' | 'Closed' | 'Withdrawn'
  since?: string
  /** When the number, if it still is the one, was rung last without an answer. */
  rang?: { on: string; mobile?: string }
  /** `10:40 on 29 November` */
  eraseAt?: string
  /** The last four digits of the number that the visitor proposes. */
  proposed?: string
  /** So many of shared/next-steps.ts. */
  stepsDone: number
}

/** The state that the page of a subscriber's link shows. `unknown`: no such link, or no longer. */
export type SubscriptionState = 'unconfirmed' | 'confirmed' | 'ended' | 'unknown' | 'failed'

/** What is shown of a received order. Only the reference if the database is unavailable or the client is over its limit. */
export interface Receipt {
  reference: string
  products?: string
  quantity?: string
  /** Such as `22 Nov 2026 14:05 IST`. */
  receivedAt?: string
  isEarlier?: boolean
  /** The path of the visitor's page, for who has sent the order by a script. */
  page?: string | undefined
  /** The mail has the link of that page, as far as the page behind a posted form knows. */
  mailLeads?: boolean
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
