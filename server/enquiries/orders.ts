import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import { brand } from '../../shared/brand.ts'
import type { Received } from '../../shared/form-outcome.ts'
import { exampleOrder, messages, NOTICE_VERSION, type Order } from '../../shared/order.ts'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { isLost, sqlState } from '../errors.ts'
import { inIndia } from '../words.ts'
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

export type Orders = ReturnType<typeof createOrders>

interface OrdersOptions {
  availability: Availability
  log: { info(details: { reference: string }, message: string): void }
  /** Told after orders were stored: mails are owed. */
  onStored(): void
  /** Whether NOTIFY_URL is told of each enquiry. */
  isPosted?: boolean
}

/** Until the other connections that end with one are known to have ended. */
const ENDING_MS = 50
/** From showing the form to sending it: less than any person, or any browser that really loads the page, takes. */
const MIN_FILL_MS = 250

export function createOrders(db: Db, { availability, log, onStored, isPosted = false }: OrdersOptions) {
  const write = createBatchWriter<Row, boolean>(async (rows) => {
    const insert = () => insertEnquiries(db, rows, isPosted)
    // Once more where the connection ended, as idle ones do when a database goes to sleep. Keys keep it from doubling.
    const areAllNew = await insert().catch(async (error) => {
      if (!isLost(error)) throw error
      await sleep(ENDING_MS)
      return insert()
    })
    availability.worked()
    setImmediate(onStored) // after the answer: what fails there must not turn a stored order into a failed one
    return areAllNew
  }, isRowError)

  async function submit(order: Order): Promise<{ reference: string }> {
    const row = toRow(order)
    const { Id: id, Reference: reference } = row
    if (!(await write(row))) {
      const stored = await db.enquiry.findUnique({ where: { submissionKey: order.submissionKey } })
      if (!stored) return submit(order) // very rarely: its reference was taken
      if (stored.id !== id && !isSameOrder(stored, order)) throw new NotStored('conflict', messages.conflict)
      if (stored.id !== id) return { reference: stored.reference }
    }
    log.info({ reference }, 'enquiry stored')
    return { reference }
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
    submit: (order: Order) => submit(order).catch(refuse),
    /**
     * Whether an order with this key is stored.
     * @throws NotStored
     */
    knows: async (submissionKey: string) => (await db.enquiry.count({ where: { submissionKey } }).catch(refuse)) > 0,
    /** What the page that follows an order says of it: while the database is away no more than the reference. */
    async received(reference: string): Promise<Received> {
      const row = await db.enquiry.findUnique({ where: { reference } }).catch(() => null)
      if (!row) return { reference }
      const { products, quantity } = toEnquiry(row)
      return { reference, products, quantity, on: inIndia(row.receivedAt).split(' ', 3).join(' ') }
    },
  }
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

const PROBE: Order = { ...exampleOrder, submissionKey: '00000000-0000-4000-8000-000000000000' }

const POST = Prisma.sql`, ('Post')`

type Row = ReturnType<typeof toRow>

/** The members are named as the columns of `Quvera_Form`. */
function toRow(order: Order) {
  return {
    Id: uuidv7(),
    Reference: createReference(),
    SuspectedSpam: isSuspicious(order),
    NoticeVersion: NOTICE_VERSION,
    SubmissionKey: order.submissionKey,
    ...Object.fromEntries(enquiryFields.map((field) => [columns[field], order[field]])),
  }
}

/**
 * Writes enquiries and the mails owed for them, in one statement and so in one transaction. Typed creates of Prisma
 * reach a fifth of its rate.
 * @returns whether every enquiry was new; else some key, or very rarely some reference, was there before
 */
async function insertEnquiries(db: Pick<Db, '$executeRaw'>, enquiries: Row[], isPosted: boolean): Promise<boolean> {
  // In one order everywhere, so that two statements with the same keys cannot block each other.
  const rows = enquiries.toSorted((a, b) => (a.SubmissionKey < b.SubmissionKey ? -1 : 1))
  const names = Prisma.raw(JSON.stringify(Object.keys(rows[0] ?? {})).slice(1, -1))
  const mails = await db.$executeRaw`
    WITH form AS (
      INSERT INTO "Quvera_Form" (${names})
      SELECT ${names} FROM json_populate_recordset(NULL::"Quvera_Form", ${JSON.stringify(rows)}::json)
      ON CONFLICT DO NOTHING
      RETURNING "Id", "SuspectedSpam"
    )
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind")
    SELECT form."Id", owed."Kind"
    FROM form CROSS JOIN (VALUES ('Staff'::"Quvera_MailKind"), ('Acknowledgement')${isPosted ? POST : Prisma.empty}) AS owed ("Kind")
    WHERE owed."Kind" <> 'Acknowledgement' OR NOT form."SuspectedSpam"`
  const most = isPosted ? 3 : 2
  return mails === rows.reduce((sum, { SuspectedSpam }) => sum + most - Number(SuspectedSpam), 0)
}

/** Stores an enquiry and takes it back. Throws what would keep a real one from being stored. */
export async function probeStorage(db: Db): Promise<void> {
  const takenBack = new Error('taken back')
  await db
    .$transaction(async (transaction) => {
      await insertEnquiries(transaction, [toRow(PROBE)], false)
      throw takenBack
    })
    .catch((error: unknown) => {
      if (error !== takenBack) throw error
    })
}
