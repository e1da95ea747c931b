// Enquiries as rows of a spreadsheet, for `staff export` and the desk.
import { stringify } from 'csv-stringify'
import { formatIndianTime } from '../../shared/indian-time.ts'
import type { Db } from '../database/database.ts'
import type { Prisma } from '../database/generated/client.ts'
import {
  ENQUIRY,
  type Enquiry,
  enquiryFields,
  columns as fieldColumns,
  inOrder,
  isAfter,
  type ListOrder,
} from './enquiry.ts'

const CHUNK = 500

/** The columns of the view `Quvera_Enquiries`. */
export const recordColumns = [
  ...['Reference', 'Received', 'Status'],
  ...Object.values(fieldColumns),
  ...['SuspectedSpam', 'StaffMail', 'AcknowledgementMail', 'LastError', 'ReceivedAt', 'Id', 'Note'],
]

interface Row extends Enquiry {
  staffMail: string | null
  acknowledgementMail: string | null
  lastError: string | null
}

/**
 * A chunk at a time, each after the last row of the one before, so that memory stays small.
 * @param where a condition about `form`
 */
export async function* readRecords(db: Db, where: Prisma.Sql, order: ListOrder) {
  let last: Row | undefined
  do {
    const rows: Row[] = await db.$queryRaw`
      SELECT ${ENQUIRY}, mails.* FROM (
        SELECT * FROM "Quvera_Form" form WHERE (${where}) AND ${isAfter(last, order)}
        ORDER BY ${inOrder(order)} LIMIT ${CHUNK}) form
      CROSS JOIN LATERAL (
        SELECT string_agg("Status"::text, ', ' ORDER BY "Id") FILTER (WHERE "Kind" = 'Notice') AS "staffMail",
          min("Status"::text) FILTER (WHERE "Kind" = 'Acknowledgement') AS "acknowledgementMail",
          min("LastError") FILTER (WHERE "Kind" IN ('Notice', 'Acknowledgement')) AS "lastError"
        FROM "Quvera_Mail" WHERE "EnquiryId" = form."Id"
      ) mails ORDER BY ${inOrder(order)}`
    yield* rows.map(toRecord)
    last = rows.length === CHUNK ? rows.at(-1) : undefined
  } while (last)
}

/** For spreadsheets: with a byte order mark, so that names keep their letters, and without text that runs as a formula. */
export function createCsv(columns: string[]) {
  const cast = { boolean: (value: boolean) => (value ? 'yes' : 'no') }
  return stringify({
    ...{ header: true, bom: true, quoted_string: true, escape_formulas: true },
    ...{ record_delimiter: 'windows', columns, cast },
  })
}

function toRecord(row: Row) {
  return {
    Reference: row.reference,
    Received: formatIndianTime(row.receivedAt),
    Status: row.status,
    ...Object.fromEntries(enquiryFields.map((field) => [fieldColumns[field], row[field]])),
    Quantity: Number(row.quantity),
    SuspectedSpam: row.suspectedSpam,
    StaffMail: row.staffMail ?? '',
    AcknowledgementMail: row.acknowledgementMail ?? '',
    LastError: row.lastError ?? '',
    ReceivedAt: row.receivedAt.toISOString(),
    Id: row.id,
    Note: row.note ?? '',
  }
}
