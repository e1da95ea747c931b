import * as z from 'zod/mini'
import { emailSchema } from './order.ts'

/** Version of the consent line under the subscribe box, stored with each address. Raise it when the line changes. */
export const CONSENT_VERSION = '2026-11-22'

export const subscriptionSchema = z.strictObject({
  email: emailSchema,
  /** No person sees this field; whoever fills it is probably a program. */
  website: z.optional(z.string()),
})

export type Subscription = z.infer<typeof subscriptionSchema>
