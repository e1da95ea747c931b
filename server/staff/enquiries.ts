import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { brand } from '../../shared/brand.ts'
import type { Db } from '../database/database.ts'
import { type Mail, Prisma } from '../database/generated/client.ts'
import { type EnquiryRow, enquiryFields, columns as fieldColumns, toEnquiry } from '../enquiries/enquiry.ts'
import { formatCount, formatIndianTime } from '../format.ts'
import { IN_SUMMARY, kinds, names, states, undeliveredStates } from '../mail/states.ts'
import { readHoldings } from './erase.ts'
import {
  type EnquiryFilter,
  type Filters,
  mobileDigits,
  type Person,
  readPerson,
  toFilter,
  UsageError,
  withFilters,
} from './input.ts'
import { type AddCommand, type Column, NAMED_MAX, printTable, type Terminal, timeCell, writeCsv } from './output.ts'

const LIMIT = 50
const FOUND_MAX = 10_000
const DIGITS_MIN = 4
const PAGE_SIZE = 500

type Direction = 'asc' | 'desc'

const byTime = (direction: Direction) => [{ receivedAt: direction }, { id: direction }]

export function listCommand(add: AddCommand, terminal: Terminal) {
  withListOptions(withFilters(add('list')))
    .summary('list the enquiries, newest first')
    .option('--new', 'those that nobody has dealt with yet: the same as --status New')
    .option('--spam', 'those that a program may have sent')
    .option('--oldest', 'oldest first')
    .description(`Times are Indian. Mail tells what became of the enquiry's mails, the worst first: "Notice Bounced" means that staff were
not told by mail, "Ack Bounced" that the visitor's address is wrong. A narrow terminal shows fewer columns; "show
REFERENCE" tells everything of one enquiry.`)
    .action(async ({ new: onlyNew, spam, ...options }: Filters & ListOptions & { new?: boolean; spam?: boolean }) => {
      if (onlyNew && options.status) throw new UsageError('Say either --new or --status')
      const filter = toFilter(onlyNew ? { ...options, status: 'New' } : options)
      const where = spam ? { ...filter, suspectedSpam: true } : filter
      await terminal.onDatabase((db) => printEnquiries(terminal, db, where, options))
    })
}

export function findCommand(add: AddCommand, terminal: Terminal) {
  withListOptions(add('find'))
    .description('find enquiries by a part of a name, address, mobile number, reference or note')
    .argument('<text...>')
    .action(async (words: string[], options: ListOptions) => {
      const text = words.join(' ').trim()
      if (!text) throw new UsageError('Say what to look for')
      await terminal.onDatabase(async (db) => {
        const ids = await findIds(db, text)
        await printEnquiries(terminal, db, { id: { in: ids } }, options)
        if (ids.length === 0 && /^\d+$/.test(text) && text.length < DIGITS_MIN)
          terminal.print(`A number is found by ${DIGITS_MIN} or more of its digits.`)
      })
    })
}

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

/** Not by LIKE, in which % and _ stand for anything. The newest come first, should there be too many. */
export async function findIds(db: Db, text: string): Promise<string[]> {
  const digits = mobileDigits(text)
  const mobile = digits && digits.length >= DIGITS_MIN ? digits : null
  const reference = text.replace(/[\s-]/g, '')
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT "Id" AS "id" FROM "Quvera_Form"
    WHERE strpos(${plain(Prisma.sql`concat_ws(chr(1), "Name", "Email", "Reference", "Note")`)}, ${plain(Prisma.sql`${text}::text`)}) > 0
      OR (length(${reference}) > 5 AND strpos(replace("Reference", '-', ''), upper(${reference})) > 0)
      OR strpos("Mobile", ${mobile}::text) > 0
    ORDER BY "ReceivedAt" DESC LIMIT ${FOUND_MAX}`
  return rows.map(({ id }) => id)
}

function plain(text: Prisma.Sql) {
  return Prisma.sql`regexp_replace(translate(lower(${text}), '‘’', ''''''), '\\s+', ' ', 'g')`
}

interface ListOptions {
  limit?: number
  json?: boolean
  oldest?: boolean
}

function withListOptions(command: Command): Command {
  return command
    .option('--limit <number>', `at most so many, ${LIMIT} unless given; with --json all`, readLimit)
    .option('--json', 'for programs: everything of each, as in the export')
}

function readLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new UsageError(`"${text}" is not a number of enquiries`)
  return Number(text)
}

async function printEnquiries(terminal: Terminal, db: Db, where: EnquiryFilter, options: ListOptions) {
  const { limit, json, oldest } = options
  const { print } = terminal
  if (json) return writeJson(terminal, db, where, options)
  const rows = await db.enquiry.findMany({
    where,
    include: { mails: recordMails },
    orderBy: byTime(oldest ? 'asc' : 'desc'),
    take: limit ?? LIMIT,
  })
  await terminal.recordAccess(db, rows)
  if (rows.length === 0) {
    const isEmpty = (await db.enquiry.count()) === 0
    const hint =
      'This database holds no enquiries. Is it the one of the site? DATA_DIR or DATABASE_URL says which it is.'
    return print(isEmpty ? hint : 'There is no such enquiry.')
  }
  printTable(terminal, columns, rows)
  const total = await db.enquiry.count({ where })
  if (total > rows.length) {
    const others = oldest ? 'newer' : 'older'
    print(`and ${formatCount(total - rows.length, `${others} one`, `${others} ones`)}: --limit ${total} shows all`)
  }
}

async function writeJson(terminal: Terminal, db: Db, where: EnquiryFilter, { limit, oldest }: ListOptions) {
  await recordAccessTo(terminal, db, where, limit)
  await pipeline(toJson(readRows(db, where, oldest ? 'asc' : 'desc', limit)), terminal.output)
}

/** As JSON.stringify would write the array with two spaces. */
async function* toJson(rows: AsyncIterable<Row>) {
  let isFirst = true
  for await (const row of rows) {
    const record = JSON.stringify(toRecord(row), numbers, 2).replaceAll('\n', '\n  ')
    yield `${isFirst ? '[' : ','}\n  ${record}`
    isFirst = false
  }
  yield isFirst ? '[]\n' : '\n]\n'
}

function numbers(_: string, value: unknown) {
  return typeof value === 'bigint' ? Number(value) : value
}

const columns: Column<Row>[] = [
  { title: 'Reference', cell: ({ reference }) => reference },
  { title: 'Received IST', cell: ({ receivedAt }) => timeCell(receivedAt), spare: 2 },
  { title: 'Status', cell: ({ status, suspectedSpam }) => `${status}${suspectedSpam ? ', spam?' : ''}`, min: 9 },
  { title: 'Name', cell: ({ name }) => name, min: 8 },
  { title: 'Mobile', cell: ({ mobile }) => mobile },
  { title: 'Order', cell: order },
  { title: 'Type', cell: (row) => toEnquiry(row).retailerSelfUse, spare: 4 },
  { title: 'Email', cell: ({ email }) => email, min: 20, spare: 5 },
  { title: 'Mail', cell: ({ mails }) => mailState(mails), min: 9, spare: 3 },
  { title: 'Note', cell: ({ note }) => note ?? '', min: 4, spare: 1 },
]

function order(row: Row) {
  return `${row.quantity} × ${toEnquiry(row).products.replace(`${brand.name} `, '')}`
}

/** What became of an enquiry's mails, in a word or two: the notice first, then whichever is worse. */
function mailState(mails: Row['mails']): string {
  const order = names(states)
  const isTold = ({ lastError }: (typeof mails)[number]) => lastError?.startsWith(IN_SUMMARY)
  const rank = (mail: (typeof mails)[number]) => {
    if (isTold(mail)) return order.indexOf('Sent')
    return mail.kind === 'Staff' && undeliveredStates.includes(mail.status) ? -1 : order.indexOf(mail.status)
  }
  const [worst] = mails.filter(({ kind }) => kind !== 'Post').toSorted((a, b) => rank(a) - rank(b))
  if (!worst) return '-'
  if (isTold(worst)) return 'In summary'
  const isFine = worst.status === 'Pending' || order.indexOf(worst.status) >= order.indexOf('Sent')
  return isFine ? worst.status : `${kinds[worst.kind].short} ${worst.status}`
}

async function writeEnquiries(terminal: Terminal, db: Db, where: EnquiryFilter) {
  await recordAccessTo(terminal, db, where)
  await writeCsv(terminal, recordColumns, readRecords(db, where))
}

async function* readRecords(db: Db, where: EnquiryFilter) {
  for await (const row of readRows(db, where, 'asc')) yield toRecord(row)
}

/** A page at a time: memory stays small however many there are. */
async function* readRows(db: Db, where: EnquiryFilter, direction: Direction, limit = Number.POSITIVE_INFINITY) {
  const beyond = direction === 'asc' ? 'gt' : 'lt'
  let left = limit
  for (let rest: EnquiryFilter = {}; left > 0; ) {
    const take = Math.min(PAGE_SIZE, left)
    const page = await db.enquiry.findMany({
      where: { AND: [where, rest] },
      include: { mails: recordMails },
      orderBy: byTime(direction),
      take,
    })
    yield* page
    const last = page.at(-1)
    if (!last || page.length < take) return
    const { id, receivedAt } = last
    // The first condition is for the index, the second for rows of the same moment.
    rest = {
      receivedAt: { [`${beyond}e`]: receivedAt },
      OR: [{ receivedAt: { [beyond]: receivedAt } }, { id: { [beyond]: id } }],
    }
    left -= take
  }
}

/** Records the references of a few enquiries, and of more how many they are. */
async function recordAccessTo(terminal: Terminal, db: Db, where: EnquiryFilter, limit = Number.POSITIVE_INFINITY) {
  const total = Math.min(await db.enquiry.count({ where }), limit)
  const rows = { where, select: { reference: true }, orderBy: byTime('desc'), take: total }
  await terminal.recordAccess(
    db,
    total > NAMED_MAX ? formatCount(total, 'enquiry', 'enquiries') : await db.enquiry.findMany(rows),
  )
}

async function writePerson(terminal: Terminal, db: Db, person: Person) {
  const holdings = await readHoldings(db, person)
  const rows = holdings.enquiries.map(({ Reference: reference }) => ({ reference }))
  await terminal.recordAccess(db, rows)
  terminal.print(JSON.stringify({ person, exportedAt: new Date(), ...holdings }, undefined, 2))
}

/** What staff read first and last of a record; the fields of the form stand between. */
const HEAD = ['Reference', 'Received', 'Status']
const TAIL = ['SuspectedSpam', 'StaffMail', 'AcknowledgementMail', 'LastError', 'ReceivedAt', 'Id', 'Note']

/** As in the view `Quvera_Enquiries`. */
const recordColumns = [...HEAD, ...Object.values(fieldColumns), ...TAIL]

/** What a record tells of the mails. */
const recordMails = { select: { kind: true, status: true, lastError: true } } as const

type Row = EnquiryRow & { mails: Pick<Mail, 'kind' | 'status' | 'lastError'>[] }

/** An enquiry in words, for spreadsheets and programs. */
function toRecord(row: Row) {
  const mail = (kind: string) => row.mails.find((each) => each.kind === kind)
  const enquiry = toEnquiry(row)
  return {
    Reference: row.reference,
    Received: formatIndianTime(row.receivedAt),
    Status: row.status,
    ...Object.fromEntries(enquiryFields.map((field) => [fieldColumns[field], enquiry[field]])),
    Quantity: row.quantity,
    SuspectedSpam: row.suspectedSpam,
    StaffMail: mail('Staff')?.status ?? '',
    AcknowledgementMail: mail('Acknowledgement')?.status ?? '',
    LastError: mail('Staff')?.lastError ?? mail('Acknowledgement')?.lastError ?? '',
    ReceivedAt: row.receivedAt.toISOString(),
    Id: row.id,
    Note: row.note ?? '',
  }
}
