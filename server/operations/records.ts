// Enquiries as rows of a spreadsheet, for `staff export` and the desk.
import { formatIndianDay, formatIndianTime } from '../../shared/indian-time.ts'
import { mobileInGroups } from '../../shared/visitor-contact.ts'
import type { Db } from '../database/database.ts'
import { columnOf, columnsOf, ENQUIRY, type Enquiry, inOrder, isAfter, type ListOrder } from '../database/enquiry.ts'
import type { Prisma } from '../database/generated/client.ts'
import { historyFacts, readHistory } from '../database/history.ts'
import { IS_NEWEST } from '../mail/of-enquiry.ts'

const CHUNK = 500

export const recordColumns = [
  ...['Reference', 'Received', 'Status', 'ClosedAs', 'AnsweredBy', 'AnsweredAt', 'Calls', 'RemindOn'],
  ...Object.values(columnOf),
  ...['Notes', 'SuspectedSpam', 'StaffMail', 'AcknowledgementMail', 'LastError', 'ReceivedAt', 'Id'],
]

interface StoredRecord extends Enquiry {
  staffMail: string
  acknowledgementMail: string
  lastError: string
}

/**
 * Rows with `recordColumns` as their keys. A chunk at a time, each after the last row of the one before, so that memory stays small.
 * @param where a condition about `form`
 * @param inTurn runs what reads a chunk
 */
export async function* readRecords(
  db: Db,
  where: Prisma.Sql,
  order: ListOrder,
  inTurn = <T>(read: () => Promise<T>) => read(),
) {
  let last: Enquiry | undefined
  do {
    const rows: StoredRecord[] = await inTurn(
      () => db.$queryRaw`
      SELECT ${ENQUIRY}, coalesce(mails."Staff", '') AS "staffMail",
        coalesce(mails."Acknowledgement", '') AS "acknowledgementMail", coalesce(mails."LastError", '') AS "lastError"
      FROM (
        SELECT form."Id" FROM "Quvera_Form" form WHERE (${where}) AND ${isAfter(last, order)} ORDER BY ${inOrder(order)} LIMIT ${CHUNK}) chosen
      JOIN "Quvera_Form" form USING ("Id") -- not all columns: some roles may not read them
      CROSS JOIN LATERAL (
        SELECT string_agg("Status"::text, ', ' ORDER BY "Id") FILTER (WHERE "Kind" = 'Notice') AS "Staff",
          min("Status"::text) FILTER (WHERE "Kind" = 'Acknowledgement') AS "Acknowledgement",
          min("LastError") FILTER (WHERE "Kind" IN ('Notice', 'Acknowledgement')) AS "LastError"
        FROM "Quvera_Mail" mail WHERE "EnquiryId" = form."Id" AND ("Kind" <> 'Acknowledgement' OR ${IS_NEWEST})
      ) mails ORDER BY ${inOrder(order)}`,
    )
    const history = await readHistory(
      db,
      rows.map(({ id }) => id),
    )
    const now = new Date()
    for (const row of rows) yield toRecord(row, historyFacts(history.get(row.id) ?? [], now))
    last = rows.length === CHUNK ? rows.at(-1) : undefined
  } while (last)
}

/** Times as spreadsheets sort them, the number in groups, so that a leading 0 stays. */
function toRecord(row: StoredRecord, { statusEntry, calls, notes }: ReturnType<typeof historyFacts>) {
  const isAnswered = statusEntry && row.status !== 'New'
  return {
    Reference: row.reference,
    Received: spreadsheetTime(row.receivedAt),
    Status: row.status,
    ClosedAs: row.closedAs ?? '',
    AnsweredBy: isAnswered ? statusEntry.who : '',
    AnsweredAt: isAnswered ? spreadsheetTime(statusEntry.at) : '',
    Calls: calls,
    RemindOn: row.remindOn ?? '',
    ...columnsOf(row),
    Mobile: mobileInGroups(row.mobile),
    Quantity: Number(row.quantity),
    Notes: notes.map(({ text }) => text).join('\n'),
    SuspectedSpam: row.suspectedSpam,
    StaffMail: row.staffMail,
    AcknowledgementMail: row.acknowledgementMail,
    LastError: row.lastError,
    ReceivedAt: row.receivedAt,
    Id: row.id,
  }
}

/** `2026-11-28 04:21`, in India. */
function spreadsheetTime(time: Date): string {
  return `${formatIndianDay(time)} ${formatIndianTime(time).slice(12, 17)}`
}
