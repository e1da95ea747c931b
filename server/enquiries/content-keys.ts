/*
 * The keys of an order. Quvera_Form has one submission key for each row, and no key twice, so that an order which is sent
 * several times is stored once.
 * - With scripts the page makes a random key for each order. It keeps the key for a day (KEY_LIFETIME_MS), or until the
 *   visitor sees the reference (client/enquiry/submission-key.ts).
 * - A form that a browser posts without scripts has no key. The server makes content keys for it here: time is cut
 *   into windows of ten minutes (FORM_REPEAT_MS), and a form repeats an equal one of its own window or of a neighbouring
 *   one. After a failure the page keeps the key in a hidden field, for a day.
 * - A form may be sent before its scripts arrive, and sent by them again. So `submit` also looks for the content keys, and
 *   waits for a form that this process is storing. What another process is storing at that moment, it cannot see.
 * - The same key and content: the same order, which gets the same reference. The same key and other content: a conflict,
 *   also when the key is a content key and nothing is stored under it. After a conflict a changed order gets a new key: from
 *   the scripts, or for a form from the server.
 */
import { hash } from 'node:crypto'
import type { Order, OrderContent } from '../../shared/order.ts'
import { FORM_REPEAT_MS } from '../../shared/submission-key.ts'
import { enquiryFields } from './enquiry.ts'

/** Keys of three windows of ten minutes: the one in which the order was sent, the one before, the one after. */
export interface ContentKeys {
  current: string
  previous: string
  next: string
}

export function createContentKeys(order: OrderContent, now = Date.now()): ContentKeys {
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
