import { randomInt, randomUUID, randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { brand } from '../../shared/brand.ts'
import type { Received } from '../../shared/form-outcome.ts'
import { exampleOrder, messages, NOTICE_VERSION, type Order } from '../../shared/order.ts'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { isConnectionLost, sqlState } from '../errors.ts'
import { formatIndianTime } from '../format.ts'
import { createBatchWriter } from './batch-writer.ts'
import { columns, enquiryFields, isSameOrder, toEnquiry } from './enquiry.ts'

/*
 * Stores orders. A checked order comes in, a reference goes out once the enquiry and the mails owed for it are
 * committed. Read `createOrders`, then batch-writer.ts, which gathers what arrives together, then `insertEnquiries`, the
 * one statement. enquiry.ts says which columns there are.
 */

/** Why something a visitor sent is not stored; the message is for the visitor. */
export class NotStored extends Error {
  /** The key stands for other content; the database refuses this row; it is away, and may have stored it all the same. */
  readonly reason: 'conflict' | 'refused' | 'unavailable'
  constructor(reason: NotStored['reason'], message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}

export interface Submitted {
  reference: string
  /** Of the same order that was stored on another day: when. */
  receivedAt?: string
}

export type Orders = ReturnType<typeof createOrders>

interface OrdersOptions {
  availability: Availability
  log: { info(details: { reference: string }, message: string): void }
  /** Told after orders were stored: mails are owed. */
  onStored(): void
}

interface OnceOptions extends Owed {
  /** Told before the row is written: from here on it may be stored under the order's own key. */
  onChecked(): void
}

/** A database that sleeps has five seconds to wake; then each statement has the limit of its own. */
const TRANSACTION = { maxWait: 7000, timeout: 7000 }
/** By then the pool knows which of its other connections have ended too. */
const ENDING_MS = 50
/** From showing the form to sending it: less than any person, or any browser that really loads the page, takes. */
const MIN_FILL_MS = 250

/** Which mails are owed for an order besides the notice to staff. */
interface Owed {
  /** False: the visitor gets no acknowledgement. */
  acknowledge: boolean
}

export function createOrders(db: Db, { availability, log, onStored }: OrdersOptions) {
  const write = createBatchWriter<Item, boolean>((items) => stored(() => insertEnquiries(db, items)), isRowError)

  async function stored<T>(insert: () => Promise<T>): Promise<T> {
    const result = await retryIfLost(insert) // the submission key keeps an order from being stored twice
    availability.worked()
    setImmediate(onStored) // after the answer: what fails there must not turn a stored order into a failed one
    return result
  }

  async function submit(order: Order, { acknowledge }: Owed): Promise<Submitted> {
    const row = toRow(order)
    const { Id: id, Reference: reference } = row
    if (!(await write({ row, acknowledge }))) {
      const stored = await db.enquiry.findUnique({ where: { submissionKey: order.submissionKey } })
      if (!stored) return submit(order, { acknowledge }) // very rarely: its reference was taken
      if (stored.id !== id && !isSameOrder(stored, order)) throw new NotStored('conflict', messages.conflict)
      const { receivedAt } = stored
      const isEarlier = dayOf(receivedAt) !== dayOf(new Date())
      if (stored.id !== id)
        return { reference: stored.reference, ...(isEarlier && { receivedAt: receivedAt.toISOString() }) }
    }
    log.info({ reference }, 'enquiry stored')
    return { reference }
  }

  async function submitOnce(order: Order, otherKeys: string[], options: OnceOptions): Promise<{ reference: string }> {
    const { submissionKey, ...content } = order
    const row = toRow(order)
    const { Reference: reference } = row
    const answer = await stored(() =>
      db.$transaction(async (transaction) => {
        // Any other request with this content waits here until this one is committed.
        await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${JSON.stringify(content)}, 0))`
        const where = { submissionKey: { in: [submissionKey, ...otherKeys] } }
        const before = await transaction.enquiry.findFirst({ where })
        if (before) return before.reference
        options.onChecked()
        const isNew = await insertEnquiries(transaction, [{ row, acknowledge: options.acknowledge }])
        return isNew ? reference : undefined
      }, TRANSACTION),
    )
    if (!answer) return submitOnce(order, otherKeys, options) // very rarely: its reference was taken
    if (answer === reference) log.info({ reference }, 'enquiry stored')
    return { reference: answer }
  }

  function refuse(cause: unknown): never {
    if (cause instanceof NotStored) throw cause
    if (isRowError(cause)) throw new NotStored('refused', messages.failed, cause)
    availability.failed(cause)
    throw new NotStored('unavailable', messages.failed, cause)
  }

  return {
    /**
     * Resolves once the enquiry and the mails we owe for it are committed. The same order again gets the first answer.
     * @throws NotStored
     */
    submit: (order: Order, owed: Owed = { acknowledge: true }) => submit(order, owed).catch(refuse),
    /**
     * The same, but an order with this content that is stored under one of `otherKeys`, or just being stored, is this one.
     * @throws NotStored
     */
    submitOnce: (order: Order, otherKeys: string[], options: OnceOptions) =>
      submitOnce(order, otherKeys, options).catch(refuse),
    /** What the page that follows an order says of it: while the database is away no more than the reference. */
    async received(reference: string): Promise<Received> {
      const row = await db.enquiry.findUnique({ where: { reference } }).catch(() => null)
      if (!row) return { reference }
      const { products, quantity } = toEnquiry(row)
      const on = dayOf(row.receivedAt)
      return { reference, products, quantity, on, isEarlier: on !== dayOf(new Date()) }
    },
  }
}

/** `22 Nov 2026` */
function dayOf(time: Date): string {
  return formatIndianTime(time).split(' ', 3).join(' ')
}

/** Only a mark for staff: nothing is ever dropped on suspicion. */
function isSuspicious({ website, filledInMs = Number.POSITIVE_INFINITY }: Order): boolean {
  return Boolean(website?.trim()) || (filledInMs >= 0 && filledInMs < MIN_FILL_MS)
}

/** Without characters that are taken for one another. */
const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const LETTERS_IN_IT = 6
/** The shape of a reference, with the prefix of any time. */
export const REFERENCE = new RegExp(`^[A-Z]{1,5}-[${LETTERS}]{${LETTERS_IN_IT}}$`)

export function createReference(): string {
  const letters = Array.from({ length: LETTERS_IN_IT }, () => LETTERS[randomInt(LETTERS.length)])
  return `${brand.referencePrefix}-${letters.join('')}`
}

/** Whether PostgreSQL refuses this row: SQLSTATE classes of data exceptions, broken constraints and raised errors. */
function isRowError(error: unknown): boolean {
  return ['22', '23', 'P0'].includes(sqlState(error)?.slice(0, 2) ?? '')
}

/** While this lease of the database lasts, NOTIFY_URL is told of each enquiry, whichever process stores it. */
export const POSTS_WANTED = 'posts wanted'

type Row = ReturnType<typeof toRow>
type Item = { row: Row } & Owed

/** The members are named as the columns of `Quvera_Form`. */
function toRow(order: Order) {
  return {
    Id: randomUUIDv7(),
    Reference: createReference(),
    SuspectedSpam: isSuspicious(order),
    NoticeVersion: NOTICE_VERSION,
    SubmissionKey: order.submissionKey,
    ...Object.fromEntries(enquiryFields.map((field) => [columns[field], order[field]])),
  }
}

/**
 * Writes enquiries and their pending mails, in one statement and so in one transaction. The notice of suspected spam has no
 * time at which it is due: it waits for a summary. Typed creates of Prisma reach a fifth of this rate.
 * @returns whether every enquiry was new; else some key, or very rarely some reference, was there before
 */
async function insertEnquiries(db: Pick<Db, '$queryRaw'>, items: Item[]): Promise<boolean> {
  // In one order everywhere, so that two statements with the same keys cannot block each other.
  const rows = items.map(({ row }) => row).toSorted((a, b) => (a.SubmissionKey < b.SubmissionKey ? -1 : 1))
  const names = Prisma.raw(JSON.stringify(Object.keys(rows[0] ?? {})).slice(1, -1))
  const without = items.filter(({ row, acknowledge }) => row.SuspectedSpam || !acknowledge).map(({ row }) => row.Id)
  const [{ stored }] = await db.$queryRaw<[{ stored: number }]>`
    WITH form AS (
      INSERT INTO "Quvera_Form" (${names})
      SELECT ${names} FROM json_populate_recordset(NULL::"Quvera_Form", ${JSON.stringify(rows)}::json)
      ON CONFLICT DO NOTHING
      RETURNING "Id", "SuspectedSpam"
    ), wanted AS (
      SELECT "Kind" FROM (VALUES ('Staff'::"Quvera_MailKind"), ('Acknowledgement')) AS mails ("Kind")
      UNION ALL SELECT 'Post' FROM "Quvera_Lease" WHERE "Name" = ${POSTS_WANTED} AND "Until" > now()
    ), mails AS (
      INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "DueAt")
      SELECT form."Id", wanted."Kind", CASE WHEN wanted."Kind" <> 'Staff' OR NOT form."SuspectedSpam" THEN now() END
      FROM form CROSS JOIN wanted
      WHERE wanted."Kind" <> 'Acknowledgement' OR form."Id" <> ALL (${without}::uuid[])
    )
    SELECT count(*)::int AS "stored" FROM form`
  return stored === rows.length
}

/** Stores an enquiry and rolls it back. Throws what would keep a real one from being stored. */
export async function probeStorage(db: Db): Promise<void> {
  const rolledBack = new Error('rolled back')
  const store = () =>
    db.$transaction(async (transaction) => {
      // A random key: with a known one a stored enquiry would be found, and nothing written.
      const row = toRow({ ...exampleOrder, submissionKey: randomUUID() })
      await insertEnquiries(transaction, [{ row, acknowledge: true }])
      throw rolledBack
    })
  await retryIfLost(store).catch((error: unknown) => {
    if (error !== rolledBack) throw error
  })
}

/** Repeats `work` once when its connection ended, as idle connections do when a database goes to sleep. */
async function retryIfLost<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isConnectionLost(error)) throw error
    await sleep(ENDING_MS)
    return work()
  }
}
