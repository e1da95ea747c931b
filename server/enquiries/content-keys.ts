// Submission keys for orders of forms that were sent without scripts, and so without a key of their own.
import { hash } from 'node:crypto'
import type { OrderContent } from '../../shared/order.ts'
import { FORM_REPEAT_MS } from '../../shared/submission-key.ts'
import { enquiryFields } from './enquiry.ts'

/** Keys of three windows of ten minutes: the one in which the order was sent, the one before, the one after. */
export interface ContentKeys {
  current: string
  previous: string
  next: string
}

/**
 * Keys made of a hash of what is stored and of a window of ten minutes. The same content again within ten minutes, as by a
 * double click or a reload, is the same enquiry; at the latest after twenty minutes it is a new one.
 * @param salt makes other keys of the same content
 */
export function contentKeys(order: OrderContent, salt = '', now = Date.now()): ContentKeys {
  const digest = hash('sha256', JSON.stringify([salt, enquiryFields.map((field) => order[field])]))
  const window = Math.floor(now / FORM_REPEAT_MS)
  const keyOf = (window: number) => toUuid(digest.slice(0, 24) + window.toString(16).padStart(8, '0'))
  return { current: keyOf(window), previous: keyOf(window - 1), next: keyOf(window + 1) }
}

/** A UUID of version 8. Keep it as it is: servers of two versions must make the same key. */
function toUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}
