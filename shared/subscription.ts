import * as z from 'zod/mini'
import { emailSchema, type FormFields, text } from './order.ts'

/** Version of the consent line under the subscribe box, stored with each address. Raise it when the line changes. */
export const CONSENT_VERSION = '2026-11-23'

export const subscriptionSchema = z.strictObject({
  email: emailSchema,
  /** Pages of older versions send it. A browser that fills it in for a person must not cost the subscription. */
  website: z.optional(z.string()),
})

export type Subscription = z.infer<typeof subscriptionSchema>

/** The box in the footer, as the schema wants it. */
export function readSubscriptionFields(fields: FormFields) {
  return { email: text(fields, 'email').trim() }
}
