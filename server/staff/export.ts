import type { Db } from '../database/database.ts'
import { count } from '../words.ts'
import {
  type EnquiryFilter,
  type Filters,
  type Person,
  readPerson,
  toFilter,
  UsageError,
  withFilters,
} from './input.ts'
import { type AddCommand, recordColumns, recordMails, type Terminal, toRecord, writeCsv } from './output.ts'

const PAGE_SIZE = 500

export function exportCommand(add: AddCommand, terminal: Terminal) {
  withFilters(add('export'))
    .summary('write enquiries as CSV, or all we hold about one person as JSON')
    .usage(`[options] > enquiries.csv
       npm run -s staff -- export --person EMAIL|MOBILE > person.json`)
    .description(`With npm's -s, else npm writes two lines of its own before the first. "Received" is Indian time, "ReceivedAt" UTC. A
text that a spreadsheet would take for a formula gets an apostrophe in front.`)
    .option(
      '--person <who>',
      'a mail address in any case, or a mobile number, also with +91 and spaces; stands alone. The subscription is found by its address only',
      readPerson,
    )
    .action(async ({ person, ...filters }: Filters & { person?: Person }) => {
      if (person && Object.keys(filters).length > 0) throw new UsageError('--person stands alone')
      const where = toFilter(filters)
      await terminal.onDatabase((db) =>
        person ? writePerson(terminal, db, person) : writeEnquiries(terminal, db, where),
      )
    })
}

async function writeEnquiries(terminal: Terminal, db: Db, where: EnquiryFilter) {
  await terminal.noteAccess(db, count(await db.enquiry.count({ where }), 'enquiry', 'enquiries'))
  await writeCsv(terminal, recordColumns, readRecords(db, where))
}

/**
 * The enquiries of the filter, oldest first, a page at a time: memory stays the same however many there are. Each page
 * goes on after the last row of the one before, so rows that come or go meanwhile shift nothing.
 */
async function* readRecords(db: Db, filter: EnquiryFilter) {
  let after: EnquiryFilter = {}
  for (;;) {
    const page = await db.enquiry.findMany({
      where: { AND: [filter, after] },
      include: { mails: recordMails },
      orderBy: [{ receivedAt: 'asc' }, { id: 'asc' }],
      take: PAGE_SIZE,
    })
    yield* page.map(toRecord)
    const last = page.at(-1)
    if (!last || page.length < PAGE_SIZE) return
    const { id, receivedAt } = last
    // The first condition follows from the second; with it PostgreSQL begins at that place of the index.
    after = { receivedAt: { gte: receivedAt }, OR: [{ receivedAt: { gt: receivedAt } }, { id: { gt: id } }] }
  }
}

async function writePerson(terminal: Terminal, db: Db, person: Person) {
  const holdings = await readHoldings(db, person)
  const rows = holdings.enquiries.map(({ Reference: reference }) => ({ reference }))
  await terminal.noteAccess(db, rows)
  terminal.print(JSON.stringify({ person, exportedAt: new Date(), ...holdings }, undefined, 2))
}

/** A row as the database has it: all columns under their own names. */
type Stored = Record<string, unknown>

export interface Holdings {
  enquiries: (Stored & { Id: string; Reference: string; ReceivedAt: string; Mails: Stored[] })[]
  subscriptions: (Stored & { Email: string })[]
}

/**
 * All we hold of a person, or enquiries by their references. Subscriptions are found by their address only: the addresses beside a mobile number may be
 * anybody's, typed by somebody else. In SQL, because Prisma's way to ignore case takes `_` and `%` for wildcards.
 */
export async function readHoldings(db: Db, person: Person | { references: string[] }): Promise<Holdings> {
  const email = 'email' in person ? person.email : null
  const mobile = 'mobile' in person ? person.mobile : null
  const references = 'references' in person ? person.references : []
  const [row] = await db.$queryRaw<Pick<Holdings, 'enquiries'>[]>`
    SELECT coalesce(jsonb_agg(to_jsonb(form) || jsonb_build_object('Mails', (
      SELECT coalesce(jsonb_agg(to_jsonb(mail) - 'EnquiryId' ORDER BY mail."Id"), '[]')
      FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id"
    ), 'History', (
      SELECT coalesce(jsonb_agg(to_jsonb(change) - 'EnquiryId' ORDER BY change."Id"), '[]')
      FROM "Quvera_History" change WHERE change."EnquiryId" = form."Id"
    )) ORDER BY form."ReceivedAt"), '[]') AS "enquiries"
    FROM "Quvera_Form" form
    WHERE lower("Email") = lower(${email}::text) OR "Mobile" = ${mobile}::text OR "Reference" = ANY(${references}::text[])`
  if (!row) throw new Error('An aggregate without GROUP BY returned no row')
  if (email === null) return { ...row, subscriptions: [] }
  const subscriptions = await db.$queryRaw<{ row: Holdings['subscriptions'][number] }[]>`
    SELECT to_jsonb(subscriber) - 'Secret' || jsonb_build_object('Mails', (
      SELECT coalesce(jsonb_agg(to_jsonb(mail) - 'SubscriberId' ORDER BY mail."Id"), '[]')
      FROM "Quvera_Mail" mail WHERE mail."SubscriberId" = subscriber."Id"
    )) AS "row" FROM "Quvera_Subscriber" subscriber WHERE lower("Email") = lower(${email})`
  return { ...row, subscriptions: subscriptions.map((each) => each.row) }
}
