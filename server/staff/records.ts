// Enquiries with their mails, as `list`, `export` and `erase` read them.
import { formatIndianTime } from '../../shared/indian-time.ts'
import type { Db } from '../database/database.ts'
import type { Mail, Prisma } from '../database/generated/client.ts'
import type { MailKind } from '../database/generated/enums.ts'
import { type EnquiryRow, enquiryFields, columns as fieldColumns, toEnquiry } from '../enquiries/enquiry.ts'
import { formatCount } from '../format.ts'
import { REFERENCES_MAX } from './access-log.ts'
import type { Terminal } from './output.ts'

const CHUNK = 500

export const byTime = (direction: 'asc' | 'desc') => [{ receivedAt: direction }, { id: direction }]

export const withMails = {
  mails: { select: { kind: true, status: true, lastError: true }, orderBy: { id: 'asc' } },
} as const

export type Row = EnquiryRow & { mails: Pick<Mail, 'kind' | 'status' | 'lastError'>[] }

/** Names a few enquiries in the access log, and counts many. */
export async function recordAccessTo({ recordAccess }: Terminal, db: Db, where: Prisma.EnquiryWhereInput) {
  const few = await db.enquiry.findMany({ where, select: { reference: true }, take: REFERENCES_MAX + 1 })
  const what =
    few.length > REFERENCES_MAX ? formatCount(await db.enquiry.count({ where }), 'enquiry', 'enquiries') : few
  await recordAccess(db, what)
}

/** A chunk at a time, each after the last row of the one before, so that memory stays small. */
export async function* readRecords(db: Db, where: Prisma.EnquiryWhereInput, direction: 'asc' | 'desc') {
  let last: Row | undefined
  do {
    const beyond = direction === 'asc' ? 'gt' : 'lt'
    const after: Prisma.EnquiryWhereInput = last
      ? {
          OR: [
            { receivedAt: { [beyond]: last.receivedAt } },
            { receivedAt: last.receivedAt, id: { [beyond]: last.id } },
          ],
        }
      : {}
    const rows: Row[] = await db.enquiry.findMany({
      where: { AND: [where, after] },
      include: withMails,
      orderBy: byTime(direction),
      take: CHUNK,
    })
    yield* rows.map(toRecord)
    last = rows.length === CHUNK ? rows.at(-1) : undefined
  } while (last)
}

/** The columns of the view `Quvera_Enquiries`. */
export const recordColumns = [
  ...['Reference', 'Received', 'Status'],
  ...Object.values(fieldColumns),
  ...['SuspectedSpam', 'StaffMail', 'AcknowledgementMail', 'LastError', 'ReceivedAt', 'Id', 'Note'],
]

/** An enquiry for spreadsheets and programs. */
function toRecord(row: Row) {
  const mailOf = (kind: MailKind) => row.mails.find((mail) => mail.kind === kind)
  const [notice, acknowledgement] = [mailOf('Notice'), mailOf('Acknowledgement')]
  const enquiry = toEnquiry(row)
  return {
    Reference: row.reference,
    Received: formatIndianTime(row.receivedAt),
    Status: row.status,
    ...Object.fromEntries(enquiryFields.map((field) => [fieldColumns[field], enquiry[field]])),
    Quantity: Number(row.quantity),
    SuspectedSpam: row.suspectedSpam,
    StaffMail: notice?.status ?? '',
    AcknowledgementMail: acknowledgement?.status ?? '',
    LastError: notice?.lastError ?? acknowledgement?.lastError ?? '',
    ReceivedAt: row.receivedAt.toISOString(),
    Id: row.id,
    Note: row.note ?? '',
  }
}
