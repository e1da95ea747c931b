import { v7 as uuidv7 } from 'uuid'
import { exampleOrder } from '../../shared/example-order.ts'
import { NOTICE_VERSION, type Order } from '../../shared/order.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { columns, enquiryFields } from './enquiry.ts'

export interface NewEnquiry {
  id: string
  reference: string
  suspectedSpam: boolean
  order: Order
}

const PROBE: Order = { ...exampleOrder, submissionKey: '00000000-0000-4000-8000-000000000000' }

/** The members are named as the columns of `Quvera_Form`. */
function toColumns({ id, reference, suspectedSpam, order }: NewEnquiry) {
  return {
    Id: id,
    Reference: reference,
    SuspectedSpam: suspectedSpam,
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
export async function insertEnquiries(
  db: Pick<Db, '$executeRaw'>,
  enquiries: NewEnquiry[],
): Promise<{ allNew: boolean }> {
  // In one order everywhere, so that two statements with the same keys cannot block each other.
  const rows = enquiries.map(toColumns).sort((a, b) => (a.SubmissionKey < b.SubmissionKey ? -1 : 1))
  const names = Prisma.raw(
    Object.keys(rows[0] ?? {})
      .map((name) => `"${name}"`)
      .join(),
  )
  const mails = await db.$executeRaw`
    WITH form AS (
      INSERT INTO "Quvera_Form" (${names})
      SELECT ${names} FROM json_populate_recordset(NULL::"Quvera_Form", ${JSON.stringify(rows)}::json)
      ON CONFLICT DO NOTHING
      RETURNING "Id", "SuspectedSpam"
    )
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind")
    SELECT form."Id", owed."Kind"
    FROM form CROSS JOIN (VALUES ('Staff'::"Quvera_MailKind"), ('Acknowledgement')) AS owed ("Kind")
    WHERE owed."Kind" = 'Staff' OR NOT form."SuspectedSpam"`
  return { allNew: mails === enquiries.reduce((sum, { suspectedSpam }) => sum + (suspectedSpam ? 1 : 2), 0) }
}

/** Stores an enquiry and takes it back. Throws what would keep a real one from being stored. */
export async function probeStorage(db: Db): Promise<void> {
  const takenBack = new Error('taken back')
  await db
    .$transaction(async (transaction) => {
      await insertEnquiries(transaction, [{ id: uuidv7(), reference: uuidv7(), suspectedSpam: false, order: PROBE }])
      throw takenBack
    })
    .catch((error: unknown) => {
      if (error !== takenBack) throw error
    })
}
