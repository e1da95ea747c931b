import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Received } from '../../shared/form-outcome.ts'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { exampleOrder, messages, type Order, type OrderContent } from '../../shared/order.ts'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import { isConnectionLost, sqlState, TOO_MANY_CONNECTIONS } from '../errors.ts'
import { createBatchWriter } from './batch-writer.ts'
import { type EnquiryRow, isSameOrder, toEnquiry } from './enquiry.ts'
import { createRow, findEqualEnquiry, insertEnquiries, type NewRow } from './insert-enquiries.ts'

/*
 * An order is stored under its submission key, in one statement. A form that the browser posts may have no key: then an
 * equal enquiry of the last ten minutes counts as the same order. tests/server/one-way.test.ts has the table of cases.
 */

/** Why an order is not confirmed. The message is for the visitor. */
export class SubmitError extends Error {
  /** `conflict`: another order has this key. `refused`: the database rejects the row. `unavailable`: it may be stored. */
  readonly reason: 'conflict' | 'refused' | 'unavailable'
  /** Of a form that the browser posts: the key under which the order may be stored. */
  readonly submissionKey: string | undefined
  constructor(reason: SubmitError['reason'], message: string, options: ErrorOptions & { submissionKey?: string } = {}) {
    super(message, options)
    this.reason = reason
    this.submissionKey = options.submissionKey
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

/** A suspended database wakes up in seconds. ReadCommitted: a query after the lock must see what was committed meanwhile. */
const TRANSACTION = { maxWait: 7000, timeout: 7000, isolationLevel: 'ReadCommitted' } as const
/** Pause before the next try. Meanwhile the pool notices its other lost connections. */
const RETRY_PAUSE_MS = 50
/** How long an order waits where the server allows fewer connections than the pool would open. */
const CONNECTION_WAIT_MS = 5000
/** A repeat within this time, such as a double click, gets the same answer as the first order. */
const REPEAT_MS = 60_000
/** How often an order is written when another row has its random reference, or its key with other content. */
const TRIES = 4

export function createOrders(db: Db, { availability, log, onStored, withPosts = false }: OrdersOptions) {
  const insertWithOthers = createBatchWriter<NewRow, string[]>(
    (rows) => storeAndNotify(() => insertEnquiries(db, rows, { withPosts })),
    isRowError,
  )

  async function storeAndNotify<T>(store: () => Promise<T>): Promise<T> {
    const result = await retryIfLost(store) // the submission key keeps an order from being stored twice
    availability.worked()
    setImmediate(onStored) // not awaited: if it fails, the order is stored all the same
    return result
  }

  function confirm(reference: string): Submitted {
    log.info({ reference }, 'enquiry stored')
    return { reference }
  }

  async function submit(order: Order): Promise<Submitted> {
    for (let tries = 0; tries < TRIES; tries++) {
      const row = createRow(order)
      const notStored = await insertWithOthers(row)
      if (!notStored.includes(row.Id)) return confirm(row.Reference)
      const stored = await db.enquiry.findUnique({ where: { submissionKey: order.submissionKey } })
      if (!stored) continue // another enquiry has the reference
      if (!isSameOrder(stored, order)) throw new SubmitError('conflict', messages.conflict)
      await waitForStandby(db)
      return stored.id === row.Id ? confirm(stored.reference) : asRepeat(stored)
    }
    throw unexplained()
  }

  /** @returns undefined if another row has the key or the reference */
  function storeForm(content: OrderContent, submissionKey: string) {
    return db.$transaction(async (transaction) => {
      // Another form with the same content waits here until this one is committed.
      await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${JSON.stringify(content)}, 0))`
      const row = createRow({ ...content, submissionKey })
      const equal = await findEqualEnquiry(transaction, row)
      if (equal) {
        await waitForStandby(transaction)
        return { ...equal, isRepeat: true }
      }
      const notStored = await insertEnquiries(transaction, [row], { withPosts })
      return notStored.length === 0 ? { reference: row.Reference, isRepeat: false } : undefined
    }, TRANSACTION)
  }

  async function submitForm(content: OrderContent, givenKey: string | undefined): Promise<Submitted> {
    let submissionKey = givenKey ?? randomUUID()
    try {
      for (let tries = 0; tries < TRIES; tries++) {
        const stored = await storeAndNotify(() => storeForm(content, submissionKey))
        if (stored) return stored.isRepeat ? { reference: stored.reference } : confirm(stored.reference)
        submissionKey = randomUUID() // the visitor has changed the form since it was stored under the given key
      }
      throw unexplained()
    } catch (error) {
      throw toSubmitError(error, submissionKey)
    }
  }

  function toSubmitError(cause: unknown, submissionKey?: string): SubmitError {
    if (cause instanceof SubmitError) return cause
    const reason = isRowError(cause) ? 'refused' : 'unavailable'
    if (reason === 'unavailable') availability.failed(cause)
    return new SubmitError(reason, messages.failed, { cause, ...(submissionKey && { submissionKey }) })
  }

  return {
    /** Resolves once the enquiry and its pending mails are committed. @throws SubmitError */
    submit: (order: Order) =>
      submit(order).catch((cause: unknown) => {
        throw toSubmitError(cause)
      }),
    /**
     * For a form that the browser posts, with or without a key. An equal enquiry with the key or of the last ten minutes, by
     * the database's clock, is the same order. @throws SubmitError with the key under which the order may be stored
     */
    submitForm,
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
  const cause = new Error('No stored row explains why the order was not stored')
  return new SubmitError('refused', messages.failed, { cause })
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
      const row = createRow({ ...exampleOrder, submissionKey: randomUUID() })
      await insertEnquiries(transaction, [row], { withPosts: false })
      throw rolledBack
    })
  await retryIfLost(store).catch((error: unknown) => {
    if (error !== rolledBack) throw error
  })
}

/**
 * A database that is suspended closes idle connections: the work is tried once more. A server without room for another
 * connection refuses it: the work is tried again until one of the pool's own is free.
 */
async function retryIfLost<T>(work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + CONNECTION_WAIT_MS
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await work()
    } catch (error) {
      const isFull = sqlState(error) === TOO_MANY_CONNECTIONS
      if (isFull ? performance.now() > giveUpAt : !isFirst || !isConnectionLost(error)) throw error
      await sleep(RETRY_PAUSE_MS)
    }
  }
}
