import { randomUUID } from 'node:crypto'
import { EMAIL_MAX, exampleOrder, NAME_MAX, type OrderContent } from '../../shared/order.ts'
import { type Db, TRANSACTION } from '../database/database.ts'
import type { Prisma } from '../database/generated/client.ts'
import { retryIfLost } from '../database/retry.ts'
import type { Recipients } from '../mail/of-enquiry.ts'
import { insertEnquiries, toInsertRow } from './storing.ts'

/** A letter of three bytes. */
const LONG = 'न'
const LABEL = `${'x'.repeat(63)}.`
const DOMAIN = `@${LABEL}${LABEL}`

/** About as long as an order may be: on a full disk a shorter row may still find some room that others do not. */
export const longestOrder: OrderContent = {
  ...exampleOrder,
  name: LONG.repeat(NAME_MAX),
  email: `${LONG.repeat(64)}${DOMAIN}${'x'.repeat(EMAIL_MAX - 64 - DOMAIN.length - 3)}.co`,
  quantity: Number.MAX_SAFE_INTEGER,
}

export type Probes = ReturnType<typeof createProbes>

/** What tries whether an enquiry can be stored: availability.ts. */
export function createProbes(db: Db, recipients: Recipients) {
  const rolledBack = new Error('rolled back')
  function tryAndRollBack(work: (transaction: Prisma.TransactionClient) => Promise<unknown>, isUp: () => boolean) {
    const transact = () =>
      db.$transaction(async (transaction) => {
        await work(transaction)
        throw rolledBack
      }, TRANSACTION)
    return retryIfLost(transact, isUp).catch((error: unknown) => {
      if (error !== rolledBack) throw error
    })
  }
  return {
    /** Stores an enquiry, with its mails. */
    store(isUp: () => boolean) {
      const row = toInsertRow({ ...longestOrder, submissionKey: randomUUID() })
      return tryAndRollBack((transaction) => insertEnquiries(transaction, [row], recipients), isUp)
    },
    /** Writes where nobody waits: it finds a database that is away, read-only or full. */
    write(isUp: () => boolean) {
      const row = { name: randomUUID(), holder: 'probe', until: new Date(0) }
      return tryAndRollBack(({ lease }) => lease.createMany({ data: row }), isUp)
    },
  }
}
