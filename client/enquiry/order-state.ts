import type { Received, RefusedOrder } from '../../shared/form-outcome.ts'
import type { OrderContent } from '../../shared/order.ts'
import { fieldErrorsOf, goBack, uncertain } from '../content/sending.ts'
import type { Doubts } from './doubts.ts'

/** What the order form shows, apart from what is typed. */
export interface OrderState {
  /** An order is being sent. */
  sending?: boolean
  /** Message while it is being sent. */
  progress?: string | undefined
  fieldErrors?: Record<string, string>
  doubts?: Doubts
  /** Those because of which the form was not sent. */
  heldBack?: Doubts | undefined
  /** The message of the first broken rule, in the answer to a form sent without scripts. With scripts a toast shows it. */
  firstError?: string
  /** A message about no single field. */
  note?: string | undefined
  received?: Received
  /** The order that was received. */
  order?: OrderContent
}

export type OrderAnswer = ReturnType<typeof answerTo>

/** What the form shows when an order sent without scripts is refused. */
export function answerTo({ problem, note, ...kept }: RefusedOrder) {
  const notes = { unread: goBack, uncertain }
  return { firstError: problem.message, fieldErrors: fieldErrorsOf(problem), note: note && notes[note], ...kept }
}
