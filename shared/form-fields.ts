import type { OrderField } from './order.ts'

/** What a form holds, read by name: `FormData` in a browser, `URLSearchParams` on the server. */
export interface FormFields {
  get(name: string): unknown
}

/** A filled form as the order's schema wants it. The same for the browser and for a form that is sent without scripts. */
export function readOrderFields(fields: FormFields) {
  const quantity = text(fields, 'quantity').trim()
  return {
    name: fields.get('name'),
    email: text(fields, 'email').trim(),
    mobile: plainMobile(text(fields, 'mobile')),
    quantity: quantity === '' ? undefined : Number(quantity),
    retailerSelfUse: fields.get('retailerSelfUse'),
    products: fields.get('products'),
    productName: fields.get('productName') ?? undefined,
    website: text(fields, 'website'),
  } satisfies Record<OrderField | 'productName' | 'website', unknown>
}

/** The box in the footer, in the same way. */
export function readSubscriptionFields(fields: FormFields) {
  return { email: text(fields, 'email').trim() }
}

/** Without spaces and dashes, and without +91 or a leading 0 if exactly ten digits remain: else the rules judge what was typed. */
function plainMobile(typed: string): string {
  const plain = typed.replace(/[\s-]/g, '')
  return /^(?:\+91|0)?([0-9]{10})$/.exec(plain)?.[1] ?? (/^[0-9]+$/.test(plain) ? plain : typed.trim())
}

function text(fields: FormFields, name: string): string {
  const value = fields.get(name)
  return typeof value === 'string' ? value : ''
}
