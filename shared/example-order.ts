import { products } from './catalogue.ts'
import type { Order, OrderField } from './order.ts'

/** A valid order but for its key: what the server tries to store when it asks whether it can, and what tests send. */
export const exampleOrder = {
  name: 'Asha Verma',
  email: 'asha.verma@shop.example',
  mobile: '9876543210',
  quantity: 24,
  retailerSelfUse: 'Retailer',
  products: products[0],
} as const satisfies Pick<Order, OrderField>
