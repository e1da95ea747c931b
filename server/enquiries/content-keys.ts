/*
 * Submission keys. Quvera_Form has each key once, so an order that is sent several times is stored once.
 * - With scripts the page makes a random key (client/enquiry/submission-key.ts).
 * - A form sent without scripts has none. The server makes content keys here: time is cut into windows of ten minutes, and
 *   a form repeats an equal one of its own window or a neighbouring one. After a failure the page keeps the key for a day.
 * - A form may be sent before its scripts arrive, and again by them: `submit` looks for content keys too.
 * - The same key with other content is a conflict. The scripts, or for a form the server, then make a new key.
 */
import { hash } from 'node:crypto'
import type { Order, OrderContent } from '../../shared/order.ts'
import { FORM_REPEAT_MS } from '../../shared/submission-key.ts'
import { enquiryFields } from './enquiry.ts'

export type ContentKeys = ReturnType<typeof createContentKeys>

/** Keys of three windows of ten minutes; `current` is the one in which the order was sent. */
export function createContentKeys(order: OrderContent, now = Date.now()) {
  const digest = hash('sha256', JSON.stringify(['', enquiryFields.map((field) => order[field])]))
  const currentWindow = Math.floor(now / FORM_REPEAT_MS)
  const keyOf = (window: number) => toUuid(digest.slice(0, 24) + window.toString(16).padStart(8, '0'))
  return { current: keyOf(currentWindow), previous: keyOf(currentWindow - 1), next: keyOf(currentWindow + 1) }
}

/** Whether the key was made of other content: a page of a failure kept it, and the visitor has changed the order. */
export function hasKeyOfOtherContent(order: Order): boolean {
  const { submissionKey } = order
  const sentAt = Number.parseInt(submissionKey.slice(-8), 16) * FORM_REPEAT_MS
  return submissionKey[14] === '8' && submissionKey !== createContentKeys(order, sentAt).current
}

/** A UUID of version 8. Keep it as it is: servers of two versions must make the same key. */
function toUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}
