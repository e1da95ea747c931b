import { v4 as randomUuid } from 'uuid'
import { dropDraft, readTab, writeTab } from './tab-storage.ts'

/*
 * The key makes one filling of the form one order, however often it is sent. The tab keeps one for each product, because the
 * same for the other product is another order. This module alone makes, keeps and ends keys.
 *
 * | event                                     | the key                          | tries that may be stored      |
 * |-------------------------------------------|----------------------------------|-------------------------------|
 * | scripts send an order: `startTry`         | the kept one, else a new one     | one more                      |
 * | the browser posts the form: `addKey`      | of the page of a failure if it   | one more, marked as posted    |
 * |                                           | is of this product, else the     |                               |
 * |                                           | kept one, else a new one         |                               |
 * | no answer, 503, Stop, a reload            | stays                            | as before                     |
 * | a refusal to scripts (4xx): `refused`     | stays                            | one less                      |
 * | a page answers the post: `adoptKey`       | of that page                     | one less if it was refused    |
 * | 409, other content is stored: `forgetKey` | ends                             |                               |
 * | the reference arrives: `finishOrder`      | ends, and the draft with it      |                               |
 * | `/received`: `finishPostedOrder`          | the one posted last ends,        |                               |
 * |                                           | if the reference is new          |                               |
 *
 * Without scripts the server makes a key when it fails, and the page of the failure holds it. The tab ends all of them.
 */

export interface OrderKey {
  key: string
  /** '' before the page of a failure, on which none was chosen, is sent. */
  product: string
  /** Tries under this key that were not refused. More than none: the server may have stored one. */
  open: number
  /** The last try was posted by the browser. */
  isPosted?: true
}

const KEYS = 'submission-key'
const REFERENCES = 'sent-references'
/** The page names so many. */
const REFERENCES_KEPT = 2

function readKeys(): OrderKey[] {
  const kept = readTab(KEYS)
  return Array.isArray(kept) ? kept : []
}

function writeKeys(keys: OrderKey[]): boolean {
  return writeTab(KEYS, keys.length > 0 ? keys : undefined)
}

/** Keeps it in place of the one with the same key, or for the same product. */
function keep(key: OrderKey): boolean {
  return writeKeys([...readKeys().filter((each) => each.key !== key.key && each.product !== key.product), key])
}

function keyOf(product: string): OrderKey {
  const keys = readKeys()
  const kept = keys.find((each) => each.product === product) ?? keys.find((each) => each.product === '')
  return kept ?? { key: randomUuid(), product, open: 0 }
}

/** @returns the key as it was before this try */
export function startTry(product: string): OrderKey {
  const { key, open } = keyOf(product)
  keep({ key, product, open: open + 1 })
  return { key, product, open }
}

/** A refusal stored nothing. */
export function refused({ key }: OrderKey): void {
  writeKeys(readKeys().map((each) => (each.key === key ? { ...each, open: each.open - 1 } : each)))
}

export function forgetKey({ key }: OrderKey): void {
  writeKeys(readKeys().filter((each) => each.key !== key))
}

/** Whether an order, or one for this product, was sent and may be stored. */
export function mayBeStored(product?: string): boolean {
  return readKeys().some((each) => each.open > 0 && (product === undefined || each.product === product))
}

/** The visitor sees the reference, now or after a reload. */
export function finishOrder(product: string, reference: string): void {
  writeKeys(readKeys().filter((each) => each.product !== product))
  keepReference(reference)
}

/**
 * For the page `/received`. All other keys stay: their answers may have been lost. A reference that was seen before is of a
 * page that is opened once more, and says nothing of what was posted since.
 */
export function finishPostedOrder(reference: string): void {
  const posted = readKeys().findLast(({ isPosted }) => isPosted)
  if (!posted || sentReferences().includes(reference)) return
  forgetKey(posted)
  keepReference(reference)
}

function keepReference(reference: string) {
  dropDraft()
  writeTab(REFERENCES, [...sentReferences().filter((each) => each !== reference), reference].slice(-REFERENCES_KEPT))
}

/** The references of what this tab has sent last. */
export function sentReferences(): string[] {
  const kept = readTab(REFERENCES)
  return Array.isArray(kept) ? kept : []
}

/** Takes over the key that a page of failure holds. @param isUncertain the order may be stored */
export function adoptKey(key: string, product: string, isUncertain: boolean): void {
  const kept = readKeys().find((each) => each.key === key) ?? { open: 1 }
  // addKey has counted the try that was refused. A key that the tab does not know has one open try, the page's own.
  const refusals = 'isPosted' in kept && !isUncertain ? 1 : 0
  keep({ key, product, open: kept.open - refusals })
}

/** Adds the key to an order that the browser posts. */
export function addKey({ target, formData }: FormDataEvent): void {
  if ((target as HTMLElement).id !== 'order') return
  const product = String(formData.get('products') ?? '')
  const { key, open } = heldKey(formData.get('submissionKey'), product) ?? keyOf(product)
  // A key that cannot be kept would differ at the next post: none is sent then, but what a page of failure holds, and the server
  // looks for an equal enquiry.
  if (keep({ key, product, open: open + 1, isPosted: true })) formData.set('submissionKey', key)
}

/** The key that a page of failure holds, unless it is kept for another product, of which it may have stored an order. */
function heldKey(held: FormDataEntryValue | null, product: string): Pick<OrderKey, 'key' | 'open'> | undefined {
  if (!held) return undefined
  const kept = readKeys().find(({ key }) => key === held)
  if (!kept) return { key: String(held), open: 0 }
  return kept.product === product || kept.product === '' ? kept : undefined
}
