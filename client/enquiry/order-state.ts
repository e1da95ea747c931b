import type { Receipt, RefusedOrder } from '../../shared/form-outcome.ts'
import type { OrderContent, Problem } from '../../shared/order.ts'
import { fieldErrorsOf, goBack, uncertain } from '../content/sending.ts'
import { mayBeStored } from './order-key.ts'

/** What has become of an order. The fields themselves hold what is typed. */
export type OrderState = Filling | Refused | Sending | Uncertain | Received

interface Filling {
  is: 'filling'
}

/** Nothing is stored. Without field errors the server has refused it: too many, or a key that belongs to other content. */
interface Refused extends Wrong {
  is: 'refused'
  note?: string | undefined
}

interface Sending {
  is: 'sending'
  /** Message while it takes long. */
  progress: string | undefined
}

/** It may be stored: no answer came, Stop was pressed, or an earlier page has sent it. Editing does not end that. */
interface Uncertain extends Wrong {
  is: 'uncertain'
  note: string
}

interface Received {
  is: 'received'
  order: OrderContent
  receipt: Receipt
}

interface Wrong {
  /** The message at each field that breaks a rule. */
  fieldErrors: Record<string, string>
  /** That of the first broken rule, in a page that answers a post. With scripts a toast shows it. */
  firstError?: string | undefined
}

export type Settled = Exclude<OrderState, Sending>

export const filling: Filling = { is: 'filling' }

/** The same, unless an order for this product, or any order, may be stored. */
export function orUncertain(state: Filling | Refused | Uncertain, product?: string): Settled {
  if (state.is === 'uncertain' || !mayBeStored(product)) return state
  return { fieldErrors: {}, ...state, is: 'uncertain', note: uncertain }
}

export function fieldErrorsIn(state: OrderState): Record<string, string> {
  return 'fieldErrors' in state ? state.fieldErrors : {}
}

/** A form that breaks rules. */
export function refusedBy(problem: Problem, before: Settled): Settled {
  const fieldErrors = fieldErrorsOf(problem)
  return before.is === 'uncertain' ? { ...before, fieldErrors } : { is: 'refused', fieldErrors }
}

/** The state without the error of a field that was edited. */
export function withoutError(state: Settled, field: string): Settled {
  const { [field]: error, ...fieldErrors } = fieldErrorsIn(state)
  if (!error || !('fieldErrors' in state)) return state
  const isLast = Object.keys(fieldErrors).length === 0
  return isLast && state.is === 'refused' ? filling : { ...state, fieldErrors, firstError: undefined }
}

/** Of a page that answers a post. */
export interface OrderAnswer extends Wrong {
  values: Record<string, string>
  submissionKey?: string | undefined
  note: string | undefined
  isUncertain?: boolean
}

export function answerTo({ problem, note, values, submissionKey }: RefusedOrder): OrderAnswer {
  return {
    firstError: problem.message,
    fieldErrors: fieldErrorsOf(problem),
    note: note && { unread: goBack, uncertain }[note],
    isUncertain: note === 'uncertain',
    values,
    submissionKey,
  }
}

/** Before the keys of the tab are known: not on the server. */
export function stateOf({ firstError, fieldErrors, note, isUncertain }: OrderAnswer): Refused | Uncertain {
  if (isUncertain) return { is: 'uncertain', firstError, fieldErrors, note: note ?? uncertain }
  return { is: 'refused', firstError, fieldErrors, note }
}
