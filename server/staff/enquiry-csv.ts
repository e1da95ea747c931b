import type { Options } from 'csv-stringify'
import type { Db } from '../database/database.ts'
import { columns, enquiryFields, toEnquiry } from '../enquiries/enquiry.ts'
import { inIndia } from '../words.ts'
import type { EnquiryFilter } from './filters.ts'

const PAGE_SIZE = 500

const mails = { select: { kind: true, status: true, lastError: true } } as const

function readPage(db: Db, where: EnquiryFilter) {
  return db.enquiry.findMany({
    where,
    include: { mails },
    orderBy: [{ receivedAt: 'asc' }, { id: 'asc' }],
    take: PAGE_SIZE,
  })
}

type Row = Awaited<ReturnType<typeof readPage>>[number]

/**
 * The enquiries of the filter, oldest first, a page at a time: memory stays the same however many there are. Each page
 * goes on after the last row of the one before, so rows that come or go meanwhile shift nothing.
 */
export async function* readEnquiries(db: Db, filter: EnquiryFilter): AsyncGenerator<Row> {
  let after: EnquiryFilter = {}
  for (;;) {
    const page = await readPage(db, { AND: [filter, after] })
    yield* page
    const last = page.at(-1)
    if (!last || page.length < PAGE_SIZE) return
    const { id, receivedAt } = last
    // The first condition follows from the second; with it PostgreSQL begins at that place of the index.
    after = { receivedAt: { gte: receivedAt }, OR: [{ receivedAt: { gt: receivedAt } }, { id: { gt: id } }] }
  }
}

/** Ends of the record that staff read first and last; the fields of the form stand between. */
const head = ['Reference', 'Received', 'Status'] as const
const tail = ['SuspectedSpam', 'StaffMail', 'AcknowledgementMail', 'LastError', 'ReceivedAt', 'Id', 'Note'] as const

/** As in the view `Quvera_Enquiries`. */
export const csvColumns = [...head, ...Object.values(columns), ...tail]

/** A row in words. */
export function toRecord(row: Row): Record<string, string | bigint | boolean> {
  const mail = (kind: Row['mails'][number]['kind']) => row.mails.find((each) => each.kind === kind)
  const enquiry = toEnquiry(row)
  return {
    Reference: row.reference,
    Received: inIndia(row.receivedAt),
    Status: row.status,
    ...Object.fromEntries(enquiryFields.map((field) => [columns[field], enquiry[field]])),
    Quantity: row.quantity,
    SuspectedSpam: row.suspectedSpam,
    StaffMail: mail('Staff')?.status ?? '-',
    AcknowledgementMail: mail('Acknowledgement')?.status ?? '-',
    LastError: mail('Staff')?.lastError ?? mail('Acknowledgement')?.lastError ?? '',
    ReceivedAt: row.receivedAt.toISOString(),
    Id: row.id,
    Note: row.note ?? '',
  }
}

/** For spreadsheets: a byte order mark, so that names keep their letters, and no text that would run as a formula. */
export const csvOptions: Options = {
  header: true,
  columns: csvColumns,
  bom: true,
  quoted_string: true,
  escape_formulas: true,
  record_delimiter: 'windows',
  cast: { boolean: (value) => (value ? 'yes' : 'no'), bigint: String },
}
