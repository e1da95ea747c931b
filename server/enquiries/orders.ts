import { setImmediate as nextTurn } from 'node:timers/promises'
import { TRPCError } from '@trpc/server'
import { v7 as uuidv7 } from 'uuid'
import { brand } from '../../shared/brand.ts'
import { messages, NOTICE_VERSION, type Order } from '../../shared/order.ts'
import { type Database, type Db, type Execute, sqlState } from '../database/database.ts'
import { randomBytes } from './random.ts'

export interface Orders {
  /**
   * Resolves once the enquiry and the mails we owe for it are committed. The same order again gets the first answer.
   * @throws TRPCError CONFLICT when the key was used with other content, SERVICE_UNAVAILABLE when the database is
   * not there, UNPROCESSABLE_CONTENT when it refuses this row
   */
  submit(order: Order): Promise<{ reference: string }>
}

/** An order that waits to be written. */
interface Waiting {
  order: Order
  id: string
  reference: string
  suspectedSpam: boolean
  resolve(answer: { reference: string }): void
  reject(error: TRPCError): void
}

const BATCH_MAX = 256
/** From the page's first byte to the sent form: less than any person, or any browser that really loads the page, takes. */
const MIN_FILL_MS = 250

/**
 * Orders that arrive together are written together: by one statement, which is one transaction, those of one turn of
 * the event loop and then, while a statement is under way, those that come meanwhile. That is several times faster
 * than a statement each, and no slower for an order that comes alone. A statement takes half of those that wait or were
 * just answered, so that one half is written while the other is answered and sends its next; left alone, or with two
 * statements at a time, nearly all come to wait for the same one.
 */
export function createOrders({ db, execute }: Pick<Database, 'db' | 'execute'>, onStored: () => void): Orders {
  const waiting: Waiting[] = []
  let writing = false

  async function writeWaiting() {
    if (writing) return
    writing = true
    await nextTurn()
    for (let size = 0; waiting.length > 0; ) {
      size = Math.min(BATCH_MAX, Math.ceil((waiting.length + size) / 2))
      await write(waiting.splice(0, size))
    }
    writing = false
  }

  async function write(batch: Waiting[]) {
    try {
      const mails = await insert(execute, batch)
      if (mails > 0) onStored()
      if (mails < batch.reduce((sum, item) => sum + mailsOwed(item), 0)) await answerFromTable(batch)
      else process.nextTick(answer, batch) // after the next statement is on its way
    } catch (error) {
      await onFailure(batch, error)
    }
  }

  /** Some were not inserted: their key is there already or, very rarely, their reference. */
  async function answerFromTable(batch: Waiting[]) {
    const found = await db.enquiry.findMany({
      where: { submissionKey: { in: batch.map((item) => item.order.submissionKey) } },
    })
    const first = new Map(found.map((enquiry) => [enquiry.submissionKey, enquiry]))
    for (const item of batch) {
      const enquiry = first.get(item.order.submissionKey)
      if (!enquiry) waiting.push({ ...item, reference: createReference() })
      else if (isSame(enquiry, item.order)) item.resolve({ reference: enquiry.reference })
      else item.reject(new TRPCError({ code: 'CONFLICT', message: messages.conflict }))
    }
  }

  /** A row that PostgreSQL refuses must not cost its neighbours: each is tried by itself. Other failures concern all. */
  async function onFailure(batch: Waiting[], cause: unknown) {
    const refused = isRefusal(sqlState(cause))
    if (refused && batch.length > 1) {
      for (const item of batch) await write([item])
      return
    }
    const code = refused ? 'UNPROCESSABLE_CONTENT' : 'SERVICE_UNAVAILABLE'
    const affected = refused ? batch : [...batch, ...waiting.splice(0)]
    for (const item of affected) item.reject(new TRPCError({ code, message: messages.failed, cause }))
  }

  return {
    submit: (order) =>
      new Promise((resolve, reject) => {
        const suspectedSpam = isSuspicious(order, Date.now())
        const id = uuidv7({ random: randomBytes(16) })
        waiting.push({ order, id, reference: createReference(), suspectedSpam, resolve, reject })
        writeWaiting()
      }),
  }
}

function answer(batch: Waiting[]) {
  for (const { reference, resolve } of batch) resolve({ reference })
}

/** Writes the enquiries and the mails owed for them. */
const INSERT = `
  WITH form AS (
    INSERT INTO "Quvera_Form" ("Id", "Reference", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products",
      "SuspectedSpam", "NoticeVersion", "SubmissionKey")
    SELECT "Id", "Reference", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products",
      "SuspectedSpam", "NoticeVersion", "SubmissionKey"
    FROM json_populate_recordset(NULL::"Quvera_Form", $1::json)
    ON CONFLICT DO NOTHING
    RETURNING "Id", "SuspectedSpam"
  )
  INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind")
  SELECT form."Id", owed."Kind"
  FROM form CROSS JOIN (VALUES ('Staff'::"Quvera_MailKind"), ('Acknowledgement')) AS owed ("Kind")
  WHERE owed."Kind" = 'Staff' OR NOT form."SuspectedSpam"`

/** Returns how many mails were written: fewer than are owed when some enquiry was not new. */
function insert(execute: Execute, batch: Waiting[]): Promise<number> {
  // In one order everywhere, so that two statements with the same keys cannot block each other.
  const rows = batch.map(toRow).sort((a, b) => (a.SubmissionKey < b.SubmissionKey ? -1 : 1))
  return execute(INSERT, JSON.stringify(rows))
}

/** As the statement above decides it: suspected spam is shown to staff and not acknowledged. */
function mailsOwed({ suspectedSpam }: Waiting): number {
  return suspectedSpam ? 1 : 2
}

/** The members are named as the columns of `Quvera_Form`. */
function toRow({ id, reference, order, suspectedSpam }: Waiting) {
  return {
    Id: id,
    Reference: reference,
    Name: order.name,
    Email: order.email,
    Mobile: order.mobile,
    Quantity: order.quantity,
    RetailerSelfUse: order.retailerSelfUse,
    Products: order.products,
    SuspectedSpam: suspectedSpam,
    NoticeVersion: NOTICE_VERSION,
    SubmissionKey: order.submissionKey,
  }
}

type Stored = Awaited<ReturnType<Db['enquiry']['findMany']>>[number]

function isSame(stored: Stored, order: Order): boolean {
  return (
    stored.name === order.name &&
    stored.email === order.email &&
    stored.mobile === order.mobile &&
    stored.quantity === BigInt(order.quantity) &&
    stored.retailerSelfUse.replace('SelfUse', 'Self Use') === order.retailerSelfUse &&
    stored.products.replace(brand.name, `${brand.name} `) === order.products
  )
}

/** Only a mark for staff: nothing is ever dropped on suspicion. */
function isSuspicious({ website, startedAt }: Order, now: number): boolean {
  const filledInMs = startedAt === undefined ? Number.POSITIVE_INFINITY : now - startedAt
  return Boolean(website?.trim()) || (filledInMs >= 0 && filledInMs < MIN_FILL_MS)
}

/** Without characters that are taken for one another. */
const REFERENCE_ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const REFERENCE_LENGTH = 6

function createReference(): string {
  let reference = `${brand.referencePrefix}-`
  // 32 characters, so each five bits of a random byte choose one fairly.
  for (const byte of randomBytes(REFERENCE_LENGTH)) reference += REFERENCE_ALPHABET[byte & 31]
  return reference
}

/** SQLSTATE classes of data exceptions, broken constraints and errors raised by triggers. */
function isRefusal(state: string | undefined): boolean {
  return ['22', '23', 'P0'].includes(state?.slice(0, 2) ?? '')
}
