import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Orders } from '../enquiries/orders.ts'

const WINDOW_MS = 10 * 60_000
/** Longer than the database may take for an order, so that by then those of the window before are stored or refused. */
const SETTLE_MS = 6000

/**
 * The submission key of a form that was sent without scripts and so without one: made of what was sent and of the
 * window of time in which it was. The same form sent twice, by a double click or a reload, is one enquiry. So are two
 * equal orders on purpose, unless ten to twenty minutes lie between them: who wants twice as much says so in the
 * quantity.
 */
export async function formKey(orders: Orders, fields: object, now = Date.now()): Promise<string> {
  const age = now % WINDOW_MS
  const current = Math.floor(now / WINDOW_MS)
  // One that was sent just before the window changed may still be on its way into the table.
  if (age < SETTLE_MS) await sleep(SETTLE_MS - age)
  const previousKey = keyOf(fields, current - 1)
  return (await orders.knows(previousKey)) ? previousKey : keyOf(fields, current)
}

/** A UUID of version 8: one of our own making. */
function keyOf(fields: object, window: number): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([window, fields]))
    .digest()
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
