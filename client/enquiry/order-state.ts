import type { Received, Refused } from '../../shared/form-outcome.ts'
import type { OrderContent } from '../../shared/order.ts'

/** What the order form shows, apart from what is typed. */
export interface OrderState {
  /** An order is being sent. */
  sending?: boolean
  /** Message while it is being sent. */
  progress?: string | undefined
  fieldErrors?: Record<string, string>
  /** The message of the first broken rule, in the answer to a form sent without scripts. With scripts a toast shows it. */
  firstError?: string
  /** A message about no single field. */
  note?: string | undefined
  received?: Received
  /** The order that was received. */
  order?: OrderContent
}

/** The answer to an order sent without scripts. */
export interface OrderAnswer extends OrderState, Pick<Refused, 'values'> {
  /** The order may be stored under this key. */
  submissionKey?: string | undefined
}
