import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Received } from '../../shared/form-outcome.ts'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { exampleOrder, messages, type Order, type OrderContent } from '../../shared/order.ts'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import { isConnectionLost, sqlState } from '../errors.ts'
import { createBatchWriter } from './batch-writer.ts'
import { type ContentKeys, createContentKeys, hasKeyOfOtherContent } from './content-keys.ts'
import { type EnquiryRow, isSameOrder, toEnquiry } from './enquiry.ts'
import { type IsStored, insertEnquiries, type NewEnquiry, toRow } from './insert-enquiries.ts'

/** Why an order is not confirmed. The message is for the visitor. */
export class SubmitError extends Error {
  /** `conflict`: another order has this key. `refused`: the database rejects the row. `unavailable`: it may be stored. */
  readonly reason: 'conflict' | 'refused' | 'unavailable'
  constructor(reason: SubmitError['reason'], message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}

export interface Submitted {
  reference: string
  /** Set when the same order was stored more than a minute ago. */
  receivedAt?: string
}

export type Orders = ReturnType<typeof createOrders>

interface OrdersOptions {
  availability: Availability
  log: { info(details: { reference: string }, message: string): void }
  onStored(): void
  /** Whether each enquiry also gets a webhook post. */
  withPosts?: boolean
}

interface SubmitFormOptions {
  /** Called before the database is asked, with the content key. */
  onKey(submissionKey: string): void
}

/** A suspended database wakes up in seconds. ReadCommitted: the lookup after the lock must see what was committed meanwhile. */
const TRANSACTION = { maxWait: 7000, timeout: 7000, isolationLevel: 'ReadCommitted' } as const
/** Pause before the second try. Meanwhile the pool notices its other lost connections. */
const RETRY_PAUSE_MS = 50
/** A repeat within this time, such as a double click, gets the same answer as the first one. */
const REPEAT_MS = 60_000
/** How often an order is written again when no stored row explains why it was not stored. */
const TRIES = 3

export function createOrders(db: Db, { availability, log, onStored, withPosts = false }: OrdersOptions) {
  const write = createBatchWriter<NewEnquiry, IsStored>(
    (enquiries) => storeAndNotify(() => insertEnquiries(db, enquiries, { withPosts })),
    isRowError,
  )

  /** Forms that are being stored, by content key. */
  const formsUnderWay = new Map<string, Promise<unknown>>()

  async function storeAndNotify<T>(insert: () => Promise<T>): Promise<T> {
    const result = await retryIfLost(insert) // the submission key keeps an order from being stored twice
    availability.worked()
    setImmediate(onStored) // not awaited: if it fails, the order is stored all the same
    return result
  }

  /** The stored row of this order. Undefined if only its reference was taken, or staff have edited the row of its content key. */
  async function findStored(order: Order, id: string, contentKeys: string[]): Promise<EnquiryRow | undefined> {
    const found = await db.enquiry.findMany({ where: { submissionKey: { in: [order.submissionKey, ...contentKeys] } } })
    const stored = found.find((row) => row.id === id) ?? found.find((row) => isSameOrder(row, order))
    if (!stored && found.some(({ submissionKey }) => submissionKey === order.submissionKey))
      throw new SubmitError('conflict', messages.conflict)
    return stored
  }

  async function submit(order: Order, contentKeys = contentKeysOf(order), tries = TRIES): Promise<Submitted> {
    if (hasKeyOfOtherContent(order)) throw new SubmitError('conflict', messages.conflict)
    const row = toRow(order)
    const { Id: id, Reference: reference } = row
    await Promise.allSettled(contentKeys.map((key) => formsUnderWay.get(key)))
    const isStored = await write({ row, contentKeys })
    if (!isStored(id)) {
      const stored = await findStored(order, id, contentKeys)
      if (!stored) {
        if (tries === 0) throw unexplained()
        return submit(order, [], tries - 1)
      }
      await waitForStandby(db)
      if (stored.id !== id) return asRepeat(stored)
    }
    log.info({ reference }, 'enquiry stored')
    return { reference }
  }

  async function storeByContent(
    content: OrderContent,
    keys: ContentKeys,
    options: SubmitFormOptions,
    tries = TRIES,
  ): Promise<Submitted> {
    options.onKey(keys.current)
    const order = { ...content, submissionKey: keys.current }
    const row = toRow(order)
    const { Reference: reference } = row
    const stored = await storeAndNotify(() =>
      db.$transaction(async (transaction) => {
        // Another request with the same content waits here until this one is committed.
        await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${JSON.stringify(content)}, 0))`
        // Had the same content when it was stored; staff may have edited it since.
        const same = await transaction.enquiry.findFirst({ where: { submissionKey: { in: Object.values(keys) } } })
        if (same) {
          await waitForStandby(transaction)
          return same.reference
        }
        const isStored = await insertEnquiries(transaction, [{ row, contentKeys: [] }], { withPosts })
        return isStored(row.Id) ? reference : undefined
      }, TRANSACTION),
    )
    if (!stored && tries === 0) throw unexplained()
    // The random reference was taken, or an equal order was stored meanwhile.
    if (!stored) return storeByContent(content, keys, options, tries - 1)
    if (stored === reference) log.info({ reference }, 'enquiry stored')
    return { reference: stored }
  }

  function throwSubmitError(cause: unknown): never {
    if (cause instanceof SubmitError) throw cause
    if (isRowError(cause)) throw new SubmitError('refused', messages.failed, cause)
    availability.failed(cause)
    throw new SubmitError('unavailable', messages.failed, cause)
  }

  return {
    /** Resolves once the enquiry and its pending mails are committed. @throws SubmitError */
    submit: (order: Order) => submit(order).catch(throwSubmitError),
    /** For a form without a key: the same content gets the same reference for ten to twenty minutes. @throws SubmitError */
    submitForm(content: OrderContent, options: SubmitFormOptions) {
      const keys = createContentKeys(content)
      const stored = storeByContent(content, keys, options).catch(throwSubmitError)
      formsUnderWay.set(keys.current, stored)
      return stored.finally(() => {
        if (formsUnderWay.get(keys.current) === stored) formsUnderWay.delete(keys.current)
      })
    },
    async received(reference: string): Promise<Received | undefined> {
      const row = await db.enquiry.findUnique({ where: { reference } })
      if (!row) return undefined
      const { products, quantity } = toEnquiry(row)
      const receivedAt = formatIndianTime(row.receivedAt)
      return { reference, products, quantity, receivedAt, isEarlier: isEarlier(row) }
    },
  }
}

function unexplained(): SubmitError {
  return new SubmitError('refused', messages.failed, new Error('No stored row explains why the order was not stored'))
}

function contentKeysOf(order: Order): string[] {
  const { current, previous } = createContentKeys(order)
  return [current, previous]
}

function asRepeat(row: EnquiryRow): Submitted {
  return { reference: row.reference, ...(isEarlier(row) && { receivedAt: row.receivedAt.toISOString() }) }
}

function isEarlier({ receivedAt }: EnquiryRow): boolean {
  return Date.now() - receivedAt.getTime() > REPEAT_MS
}

/** SQLSTATE classes of data exceptions, broken constraints and raised errors. */
function isRowError(error: unknown): boolean {
  return ['22', '23', 'P0'].includes(sqlState(error)?.slice(0, 2) ?? '')
}

/** Makes the commit wait until a synchronous standby has all earlier rows: a restarted primary may hold rows that it lacks. */
async function waitForStandby(db: Pick<Db, '$executeRaw'>): Promise<void> {
  await db.$executeRaw`SELECT pg_logical_emit_message(true, 'quvera', '')`
}

/** Stores an enquiry and rolls it back. */
export async function probeStorage(db: Db): Promise<void> {
  const rolledBack = new Error('rolled back')
  const store = () =>
    db.$transaction(async (transaction) => {
      // A random key: with a known one a stored enquiry would be found, and nothing written.
      const row = toRow({ ...exampleOrder, submissionKey: randomUUID() })
      await insertEnquiries(transaction, [{ row, contentKeys: [] }], { withPosts: false })
      throw rolledBack
    })
  await retryIfLost(store).catch((error: unknown) => {
    if (error !== rolledBack) throw error
  })
}

/** A database that is suspended closes idle connections: the work is tried once more. */
async function retryIfLost<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isConnectionLost(error)) throw error
    await sleep(RETRY_PAUSE_MS)
    return work()
  }
}
