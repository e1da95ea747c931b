import { randomUUID } from 'node:crypto'
import { type Receipt, yourEnquiryUrl } from '../../shared/form-outcome.ts'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { messages, type Order, type OrderContent } from '../../shared/order.ts'
import { type Db, readNow, TRANSACTION } from '../database/database.ts'
import type { Enquiry } from '../database/enquiry.ts'
import { sqlState } from '../database/errors.ts'
import { confirmationToken } from '../database/page-token.ts'
import { retryIfLost } from '../database/retry.ts'
import { RequestError } from '../http/errors.ts'
import type { Recipients } from '../mail/of-enquiry.ts'
import { leadsToPage } from '../mail/templates.ts'
import type { Availability } from './availability.ts'
import { createBatchWriter } from './batch-writer.ts'
import {
  findByKey,
  findByReference,
  findEqualEnquiry,
  type InsertRow,
  insertEnquiries,
  lockContent,
  toInsertRow,
} from './storing.ts'

/*
 * An order is stored under its submission key, in one statement. For a form that the browser posts, with a key or without, an
 * equal enquiry of the last ten minutes also counts as the same order. tests/server/orders/one-way.test.ts has the table of cases.
 */

interface Submitted {
  reference: string
  /** The path of the visitor's page. Only for a request under the key of the stored row: to know the content is not enough. */
  page?: string
  /** When the enquiry was stored, if that was more than a minute ago. */
  receivedAt?: string
}

export type Orders = ReturnType<typeof createOrders>

interface OrdersOptions {
  availability: Pick<Availability, 'isUp' | 'failed' | 'worked'>
  log: { info(details: { reference: string }, message: string): void }
  onStored(): void
  recipients: Recipients
  /** Without it mails have no links. */
  publicUrl?: string | undefined
}

/** From this age of an enquiry on, a repeat is told when it was received. A double click gets the same answer twice. */
const EARLIER_AFTER_MS = 60_000
/** An order fails when so many random references in a row belong to other enquiries. */
const TRIES = 4

export function createOrders(db: Db, { availability, log, onStored, recipients, publicUrl = '' }: OrdersOptions) {
  const insertInBatch = createBatchWriter<InsertRow, Map<string, string>>(
    (rows) => storeAndReport(() => insertEnquiries(db, rows, recipients)),
    isRowError,
  )

  async function storeAndReport<T>(store: () => Promise<T>): Promise<T> {
    const result = await retryIfLost(store, availability.isUp) // the submission key keeps an order from being stored twice
    availability.worked()
    setImmediate(onStored) // which must not throw
    return result
  }

  /** @returns `taken` if another enquiry has the reference */
  async function storeOrder(order: Order): Promise<Submitted | 'taken'> {
    const row = toInsertRow(order)
    const secret = (await insertInBatch(row)).get(row.Id)
    if (secret) return { ...logStored(row.Reference), page: pageOf({ id: row.Id, secret }) }
    // It was left out, because a stored row has its key or its reference. The key decides.
    const enquiry = await retryIfLost(() => findByKey(db, order.submissionKey))
    if (!enquiry) return 'taken'
    const { id, reference, receivedAt, now } = enquiry
    const page = pageOf(enquiry)
    const isOurRow = id === row.Id // stored by a statement that retryIfLost has repeated
    if (isOurRow) return { ...logStored(reference), page }
    const isRepeat = enquiry.contentHash === row.ContentHash
    if (!isRepeat) throw new RequestError(409, messages.conflict)
    return { reference, page, ...(isEarlier(enquiry, now) && { receivedAt: receivedAt.toISOString() }) }
  }

  /** @returns `taken` if another enquiry has the key or the reference */
  function storeForm(content: OrderContent, row: InsertRow) {
    return db.$transaction(async (transaction) => {
      await lockContent(transaction, content)
      const equal = await findEqualEnquiry(transaction, row)
      const isOurRow = equal?.id === row.Id // stored by a transaction that retryIfLost has repeated
      if (equal) return { reference: equal.reference, isRepeat: !isOurRow }
      const stored = await insertEnquiries(transaction, [row], recipients)
      return stored.has(row.Id) ? { reference: row.Reference, isRepeat: false } : 'taken'
    }, TRANSACTION)
  }

  function logStored(reference: string): Submitted {
    log.info({ reference }, 'enquiry stored')
    return { reference }
  }

  /** Reports that the database failed, if it did. @throws RequestError */
  function reportFailure(cause: unknown, submissionKey?: string): never {
    if (cause instanceof RequestError) throw cause
    const isRefused = isRowError(cause)
    if (!isRefused) availability.failed(cause) // and the order may be stored
    throw new RequestError(isRefused ? 422 : 503, messages.failed, { cause, submissionKey })
  }

  return {
    /** Resolves once the enquiry and its pending mails are committed. @throws RequestError */
    submit: (order: Order): Promise<Submitted> =>
      retryIfTaken(() => storeOrder(order)).catch((cause: unknown) => reportFailure(cause)),
    /**
     * For a form that the browser posts, with or without a key. An equal enquiry with the key or of the last ten minutes, by
     * the database's clock, is the same order. @throws RequestError with the key under which the order may be stored
     */
    async submitForm(content: OrderContent, givenKey: string | undefined): Promise<Submitted> {
      const { reference, isRepeat } = await retryIfTaken((isFirst) => {
        // The first try has the given key. At a second one that, or the reference, is known to belong to another enquiry. Unlike a
        // script, which gets 409, a form is then stored as an enquiry of its own.
        const submissionKey = isFirst && givenKey ? givenKey : randomUUID()
        const row = toInsertRow({ ...content, submissionKey })
        return storeAndReport(() => storeForm(content, row)).catch((cause: unknown) =>
          reportFailure(cause, submissionKey),
        )
      })
      return isRepeat ? { reference } : logStored(reference)
    },
    async findReceipt(reference: string): Promise<Receipt | undefined> {
      const enquiry = await findByReference(db, reference)
      if (!enquiry) return undefined
      const { products, quantity, email } = enquiry
      return {
        reference,
        products,
        quantity,
        receivedAt: formatIndianTime(enquiry.receivedAt),
        isEarlier: isEarlier(enquiry, await readNow(db)),
        mailLeads: leadsToPage(email, publicUrl),
      }
    },
  }
}

function pageOf(enquiry: Parameters<typeof confirmationToken>[0]): string {
  return yourEnquiryUrl(confirmationToken(enquiry))
}

/** @param store uses a new reference each time; `taken`: another enquiry has it, or a posted form's key with other content */
async function retryIfTaken<T>(store: (isFirst: boolean) => Promise<T | 'taken'>): Promise<T> {
  for (let tries = 0; tries < TRIES; tries++) {
    const stored = await store(tries === 0)
    if (stored !== 'taken') return stored
  }
  const cause = new Error('No stored row explains why the order was not stored')
  throw new RequestError(422, messages.failed, { cause })
}

/** @param now by the database's clock, which has set the time of receipt */
function isEarlier({ receivedAt }: Enquiry, now: Date): boolean {
  return now.getTime() - receivedAt.getTime() > EARLIER_AFTER_MS
}

/** SQLSTATE classes of data exceptions, broken constraints and raised errors. */
function isRowError(error: unknown): boolean {
  return ['22', '23', 'P0'].includes(sqlState(error)?.slice(0, 2) ?? '')
}
