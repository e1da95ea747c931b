import { randomInt } from 'node:crypto'
import { TRPCError } from '@trpc/server'
import { v7 as uuidv7 } from 'uuid'
import { brand } from '../../shared/brand.ts'
import { messages, type Order } from '../../shared/order.ts'
import { REFERENCE_ALPHABET, REFERENCE_LENGTH } from '../../shared/reference-shape.ts'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import { sqlState } from '../errors.ts'
import { createBatchWriter } from './batch-writer.ts'
import { isSameOrder } from './enquiry.ts'
import { insertEnquiries, type NewEnquiry } from './insert-enquiries.ts'

export interface Orders {
  /**
   * Resolves once the enquiry and the mails we owe for it are committed. The same order again gets the first answer.
   * @throws TRPCError CONFLICT when the key was used with other content, SERVICE_UNAVAILABLE when the database is
   * not there, UNPROCESSABLE_CONTENT when it refuses this row
   */
  submit(order: Order): Promise<{ reference: string }>
  /**
   * Whether an order with this key is stored.
   * @throws TRPCError SERVICE_UNAVAILABLE
   */
  knows(submissionKey: string): Promise<boolean>
}

export interface OrdersOptions {
  availability: Availability
  log: { info(details: { reference: string }, message: string): void }
  /** Told after orders were stored: mails are owed. */
  onStored(): void
}

/** From showing the form to sending it: less than any person, or any browser that really loads the page, takes. */
const MIN_FILL_MS = 250

export function createOrders(db: Db, { availability, log, onStored }: OrdersOptions): Orders {
  const write = createBatchWriter<NewEnquiry, { allNew: boolean }>(async (enquiries) => {
    const result = await insertEnquiries(db, enquiries)
    availability.worked()
    setImmediate(onStored) // after the answer: what fails there must not turn a stored order into a failed one
    return result
  }, isRowError)

  async function submit(order: Order): Promise<{ reference: string }> {
    const enquiry = {
      id: uuidv7(),
      reference: createReference(),
      suspectedSpam: isSuspicious(order),
      order,
    }
    const { allNew } = await write(enquiry)
    if (allNew) return answer(enquiry)
    const stored = await db.enquiry.findUnique({ where: { submissionKey: order.submissionKey } })
    if (!stored) return submit(order) // very rarely: its reference was taken
    if (stored.id === enquiry.id) return answer(enquiry)
    if (!isSameOrder(stored, order)) throw new TRPCError({ code: 'CONFLICT', message: messages.conflict })
    return { reference: stored.reference }
  }

  /** Of an enquiry that was stored just now, and not before. */
  function answer({ reference }: NewEnquiry) {
    log.info({ reference }, 'enquiry stored')
    return { reference }
  }

  function refuse(cause: unknown): never {
    if (cause instanceof TRPCError) throw cause
    if (isRowError(cause)) throw new TRPCError({ code: 'UNPROCESSABLE_CONTENT', message: messages.failed, cause })
    availability.failed(cause)
    throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: messages.failed, cause })
  }

  return {
    submit: (order) => submit(order).catch(refuse),
    knows: async (submissionKey) => (await db.enquiry.count({ where: { submissionKey } }).catch(refuse)) > 0,
  }
}

/** Only a mark for staff: nothing is ever dropped on suspicion. */
function isSuspicious({ website, filledInMs = Number.POSITIVE_INFINITY }: Order): boolean {
  return Boolean(website?.trim()) || (filledInMs >= 0 && filledInMs < MIN_FILL_MS)
}

function createReference(): string {
  const characters = Array.from(
    { length: REFERENCE_LENGTH },
    () => REFERENCE_ALPHABET[randomInt(REFERENCE_ALPHABET.length)],
  )
  return `${brand.referencePrefix}-${characters.join('')}`
}

/** Whether PostgreSQL refuses this row: SQLSTATE classes of data exceptions, broken constraints and raised errors. */
function isRowError(error: unknown): boolean {
  return ['22', '23', 'P0'].includes(sqlState(error)?.slice(0, 2) ?? '')
}
