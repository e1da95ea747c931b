// Enquiries as rows of a spreadsheet, for `staff export` and the desk.
import { formatIndianTime } from '../../shared/indian-time.ts'
import type { Db } from '../database/database.ts'
import { columns as fieldColumns, inOrder, isAfter, type ListOrder } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'

const CHUNK = 500

/** The columns of the view `Quvera_Enquiries`. */
export const recordColumns = [
  ...['Reference', 'Received', 'Status'],
  ...Object.values(fieldColumns),
  ...['SuspectedSpam', 'StaffMail', 'AcknowledgementMail', 'LastError', 'ReceivedAt', 'Id', 'Note'],
]
const FIELDS = Prisma.raw(
  Object.values(fieldColumns)
    .map((column) => `form."${column}"::${column === 'Quantity' ? 'float' : 'text'}`)
    .join(', '),
)

/** With `recordColumns` as its keys, but for `Received`. */
type EnquiryRecord = Record<string, unknown> & { ReceivedAt: Date; Id: string }

/**
 * A chunk at a time, each after the last row of the one before, so that memory stays small.
 * @param where a condition about `form`
 */
export async function* readRecords(db: Db, where: Prisma.Sql, order: ListOrder) {
  let last: EnquiryRecord | undefined
  do {
    const after = isAfter(last && { receivedAt: last.ReceivedAt, id: last.Id }, order)
    const rows: EnquiryRecord[] = await db.$queryRaw`
      SELECT form."Reference", form."Status"::text, ${FIELDS}, form."SuspectedSpam", coalesce(mails."Staff", '') AS "StaffMail",
        coalesce(mails."Acknowledgement", '') AS "AcknowledgementMail", coalesce(mails."LastError", '') AS "LastError",
        form."ReceivedAt", form."Id"::text, coalesce(form."Note", '') AS "Note"
      FROM (
        SELECT * FROM "Quvera_Form" form WHERE (${where}) AND ${after} ORDER BY ${inOrder(order)} LIMIT ${CHUNK}) form
      CROSS JOIN LATERAL (
        SELECT string_agg("Status"::text, ', ' ORDER BY "Id") FILTER (WHERE "Kind" = 'Notice') AS "Staff",
          min("Status"::text) FILTER (WHERE "Kind" = 'Acknowledgement') AS "Acknowledgement",
          min("LastError") FILTER (WHERE "Kind" IN ('Notice', 'Acknowledgement')) AS "LastError"
        FROM "Quvera_Mail" WHERE "EnquiryId" = form."Id"
      ) mails ORDER BY ${inOrder(order)}`
    yield* rows.map(({ Reference, ...row }) => ({ Reference, Received: formatIndianTime(row.ReceivedAt), ...row }))
    last = rows.length === CHUNK ? rows.at(-1) : undefined
  } while (last)
}
