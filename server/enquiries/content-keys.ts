/*
 * Content keys: submission keys that the server makes of an order's content and a window of ten minutes, for forms sent
 * without scripts. An equal form of the same or a neighbouring window is a repeat. `submit` looks for content keys too: a
 * form may be sent before its scripts are loaded, and again by them.
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

/** Whether this is the content key of another order: the visitor changed the form on the page that reported a failure. */
export function hasKeyOfOtherContent(order: Order): boolean {
  const { submissionKey } = order
  const sentAt = Number.parseInt(submissionKey.slice(-8), 16) * FORM_REPEAT_MS
  return submissionKey[14] === '8' && submissionKey !== createContentKeys(order, sentAt).current
}

/** A UUID of version 8. Do not change it: during an update servers of two versions must make the same key. */
function toUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}
