import type { Order } from '../../shared/order.ts'

/** What the order form shows, apart from what is typed. */
export interface OrderState {
  /** An order is under way. */
  sending?: boolean
  /** What is to be said of it while it is. */
  progress?: string | undefined
  /** What is wrong with each field. */
  marks: Record<string, string>
  /** Above the fields, on a page that answers a form sent without scripts: what a toast says elsewhere. */
  summary?: string
  /** What is wrong with none of them. */
  note?: string | undefined
  /** The order was received. */
  reference?: string | undefined
  order?: Order
}

export const EMPTY: OrderState = { marks: {} }
