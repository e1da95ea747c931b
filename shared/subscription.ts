import * as z from 'zod/mini'
import { emailSchema } from './order.ts'
import { type FormFields, readEmail } from './typed-text.ts'

/** Stored with each address. Raise it when the consent line under the subscribe form changes. */
export const CONSENT_VERSION = '2026-11-23'

export const subscriptionSchema = z.strictObject({ email: emailSchema })

export type Subscription = z.infer<typeof subscriptionSchema>

export function readSubscriptionFields(form: FormFields) {
  return { email: readEmail(form) }
}

/** An address that is not confirmed within these days is deleted. */
export const UNCONFIRMED_DAYS = 30
/** How long the link works. The row is deleted a day after that: after UNCONFIRMED_DAYS in all. */
export const LINK_DAYS = UNCONFIRMED_DAYS - 1
