import { firstProblem, messages, orderSchema, type Problem } from '../../shared/order.ts'
import { emptyHints, ruleHints } from '../content/enquiry-form.ts'
import { currentSubmission } from './submission-key.ts'

/** What the visitor typed, checked by the same rules as on the server. */
export function readOrder(data: FormData) {
  const result = orderSchema.safeParse({
    submissionKey: currentSubmission().key,
    name: data.get('name'),
    email: text(data.get('email')).trim(),
    mobile: plainMobile(text(data.get('mobile'))),
    quantity: text(data.get('quantity')) === '' ? undefined : Number(data.get('quantity')),
    retailerSelfUse: data.get('retailerSelfUse'),
    products: data.get('products'),
    productName: data.get('productName') ?? undefined,
    website: text(data.get('website')),
    filledInMs: Math.round(performance.now()),
  })
  return result.success ? { order: result.data } : { problem: firstProblem(result.error) }
}

/** What stands under each field that breaks the rule. */
export function marks({ message, fields }: Problem): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field, hint(message, field)]))
}

function hint(message: string, field: string) {
  if (message === messages.empty) return emptyHints[field] ?? message
  return Object.entries(ruleHints).find(([rule]) => rule === message)?.[1] ?? message
}

/** Without +91, a leading 0, spaces and dashes, but only if exactly ten digits remain: else the rules judge what was typed. */
export function plainMobile(typed: string) {
  const plain = typed.replace(/[\s-]/g, '')
  return /^(?:\+91|0)?([0-9]{10})$/.exec(plain)?.[1] ?? typed.trim()
}

function text(value: FormDataEntryValue | null) {
  return typeof value === 'string' ? value : ''
}
