import type { OrderField } from '../../shared/order.ts'

/** What the visitor writes, by its labels at the desk and in their order. */
export const labels: Record<OrderField, string> = {
  name: 'Name',
  email: 'Email',
  mobile: 'Mobile, 10 digits',
  quantity: 'Quantity',
  retailerSelfUse: 'Buying for',
  products: 'Product',
}
export const fieldNames = Object.keys(labels) as OrderField[]

/** Of a row, or of what was typed, these alone. */
export function fieldsOf<Values extends Record<OrderField, unknown>>(values: Values): Pick<Values, OrderField> {
  return Object.fromEntries(fieldNames.map((name) => [name, values[name]])) as Pick<Values, OrderField>
}
