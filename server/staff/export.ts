import { formatIndianTime } from '../../shared/indian-time.ts'
import type { Db } from '../database/database.ts'
import type { Mail, Prisma } from '../database/generated/client.ts'
import type { MailKind } from '../database/generated/enums.ts'
import { type EnquiryRow, enquiryFields, columns as fieldColumns, toEnquiry } from '../enquiries/enquiry.ts'
import { formatCount } from '../format.ts'
import { REFERENCES_MAX } from './access-log.ts'
import { type Filters, type Person, readPerson, toFilter, UsageError, withFilters } from './input.ts'
import { type AddCommand, type Terminal, writeCsv } from './output.ts'

const CHUNK = 500

export const byTime = (direction: 'asc' | 'desc') => [{ receivedAt: direction }, { id: direction }]

export function exportCommand(add: AddCommand, terminal: Terminal) {
  withFilters(add('export'))
    .description('write enquiries as CSV, or all we hold about one person as JSON')
    .option(
      '--person <who>',
      'a mail address in any case, or a mobile number; without other options. A subscription is found by its address only',
      readPerson,
    )
    .action(async ({ person, ...filters }: Filters & { person?: Person }) => {
      if (person && Object.keys(filters).length > 0) throw new UsageError('--person takes no other options')
      const where = toFilter(filters)
      await terminal.onDatabase((db) =>
        person ? exportPerson(terminal, db, person) : exportEnquiries(terminal, db, where),
      )
    })
}

async function exportEnquiries(terminal: Terminal, db: Db, where: Prisma.EnquiryWhereInput) {
  await recordAccessTo(terminal, db, where)
  await writeCsv(terminal, recordColumns, readRecords(db, where, 'asc'))
}

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

async function exportPerson({ print, recordAccess }: Terminal, db: Db, person: Person) {
  const holdings = await readHoldings(db, person)
  const references = holdings.enquiries.map(({ Reference: reference }) => ({ reference }))
  await recordAccess(db, references)
  print(JSON.stringify({ person, exportedAt: new Date(), ...holdings }, undefined, 2))
}

export const withMails = {
  mails: { select: { kind: true, status: true, lastError: true }, orderBy: { id: 'asc' } },
} as const

export type Row = EnquiryRow & { mails: Pick<Mail, 'kind' | 'status' | 'lastError'>[] }

/** The columns of the view `Quvera_Enquiries`. */
const recordColumns = [
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

/** All we hold of a person. In SQL, so that all columns are exported under the database's names. */
async function readHoldings(db: Db, person: Person) {
  const { email, mobile }: { email?: string; mobile?: string } = person
  const enquiries = await db.$queryRaw<{ row: { Reference: string } }[]>`
    SELECT to_jsonb(form) || jsonb_build_object('Mails', (
      SELECT coalesce(jsonb_agg(to_jsonb(mail) - 'EnquiryId' ORDER BY mail."Id"), '[]')
      FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id"
    ), 'History', (
      SELECT coalesce(jsonb_agg(to_jsonb(change) - 'EnquiryId' - 'Who' ORDER BY change."Id"), '[]')
      FROM "Quvera_History" change WHERE change."EnquiryId" = form."Id"
    )) AS "row" FROM "Quvera_Form" form
    WHERE lower("Email") = lower(${email ?? null}::text) OR "Mobile" = ${mobile ?? null}::text
    ORDER BY form."ReceivedAt"`
  const subscriptions = await db.$queryRaw<{ row: object }[]>`
    SELECT to_jsonb(subscriber) || jsonb_build_object('Mails', (
      SELECT coalesce(jsonb_agg(to_jsonb(mail) - 'SubscriberId' ORDER BY mail."Id"), '[]')
      FROM "Quvera_Mail" mail WHERE mail."SubscriberId" = subscriber."Id"
    )) AS "row" FROM (
      SELECT "Email", "SubscribedAt", "ConsentVersion", "ConfirmedAt", "EndsAt", "Id" FROM "Quvera_Subscriber"
    ) subscriber WHERE lower("Email") = lower(${email ?? null}::text)`
  return { enquiries: enquiries.map(({ row }) => row), subscriptions: subscriptions.map(({ row }) => row) }
}
