// Submission keys for orders of forms that were sent without scripts, and so without a key of their own.
import { hash } from 'node:crypto'
import { v4 as uuidv4 } from 'uuid'
import type { OrderContent } from '../../shared/order.ts'
import { FORM_REPEAT_MS } from '../../shared/submission-key.ts'
import { enquiryFields } from './enquiry.ts'

export interface ContentKeys {
  /** Of the ten minutes in which the order was sent. */
  current: string
  previous: string
  next: string
}

/**
 * Keys made by a hash of what is stored and of ten minutes. The same content again within ten minutes, as by a double click
 * or a reload, is the same enquiry; at the latest after twenty minutes it is a new one.
 * @param salt makes other keys of the same content
 */
export function contentKeys(order: OrderContent, salt = '', now = Date.now()): ContentKeys {
  const content = enquiryFields.map((field) => order[field])
  const window = Math.floor(now / FORM_REPEAT_MS)
  const keyOf = (window: number) => toUuid(hash('sha256', JSON.stringify([salt, window, content]), 'buffer'))
  return { current: keyOf(window), previous: keyOf(window - 1), next: keyOf(window + 1) }
}

/** A UUID of version 8. Keep it as it is: servers of two versions must make the same key. */
function toUuid(random: Buffer): string {
  return uuidv4({ random }).replace(/^(.{14})4/, '$18')
}
