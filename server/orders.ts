import type { Order } from '../shared/order.ts'

export interface Orders {
  /** Resolves once the enquiry and the mails we owe for it are committed. */
  submit(order: Order): Promise<{ reference: string }>
}
