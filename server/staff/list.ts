import type { Command } from 'commander'
import { brand } from '../../shared/brand.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { toEnquiry } from '../enquiries/enquiry.ts'
import { formatCount } from '../format.ts'
import { IN_SUMMARY, kinds, undeliveredStates } from '../mail/states.ts'
import { byTime, type Row, toRecord, withMails } from './export.ts'
import { type EnquiryFilter, type Filters, mobileDigits, toFilter, UsageError, withFilters } from './input.ts'
import { type AddCommand, printTable, type Terminal, timeCell } from './output.ts'

const LIMIT = 50
const FOUND_MAX = 10_000
const DIGITS_MIN = 4

export function listCommand(add: AddCommand, terminal: Terminal) {
  withListOptions(withFilters(add('list')))
    .summary('list the enquiries, newest first')
    .option('--new', 'those that nobody has answered yet: the same as --status New')
    .option('--spam', 'suspected spam')
    .option('--oldest', 'oldest first')
    .description(
      `Times are Indian. In the column Mail, "Notice Bounced" means that staff did not get the notice, "Ack Bounced" that the visitor's address is wrong. A star after the status means that there is a note. A narrow terminal cuts the lines; "show REFERENCE" shows everything.`,
    )
    .action(async ({ new: onlyNew, spam, ...options }: Filters & ListOptions & { new?: boolean; spam?: boolean }) => {
      if (onlyNew && options.status) throw new UsageError('Use either --new or --status')
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
      if (!text) throw new UsageError('Name a text to find')
      await terminal.onDatabase(async (db) => {
        const ids = await findIds(db, text)
        if (ids.length === 0 && /^\d+$/.test(text) && text.length < DIGITS_MIN)
          return terminal.print(`Type at least ${DIGITS_MIN} digits of a mobile number.`)
        await printEnquiries(terminal, db, { id: { in: ids } }, options)
      })
    })
}

/** The newest come first. LIKE would take % and _ for wildcards. */
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
  const { limit = options.json ? undefined : LIMIT, json, oldest } = options
  const { print } = terminal
  const orderBy = byTime(oldest ? 'asc' : 'desc')
  const rows = await db.enquiry.findMany({ where, include: withMails, orderBy, ...(limit && { take: limit }) })
  await terminal.recordAccess(db, rows)
  if (json) return print(JSON.stringify(rows.map(toRecord), undefined, 2))
  if (rows.length === 0) {
    const isEmpty = (await db.enquiry.count()) === 0
    const hint =
      'This database holds no enquiries. Is it the one of the site? DATA_DIR or DATABASE_URL says which it is.'
    return print(isEmpty ? hint : 'There is no such enquiry.')
  }
  printTable(terminal, rows.map(toCells))
  const total = await db.enquiry.count({ where })
  if (total > rows.length) {
    const others = oldest ? 'newer' : 'older'
    print(`and ${formatCount(total - rows.length, `${others} one`, `${others} ones`)}: --limit ${total} shows all`)
  }
}

function toCells(row: Row) {
  const { products, retailerSelfUse } = toEnquiry(row)
  return {
    Reference: row.reference,
    Status: row.status + (row.note ? '*' : '') + (row.suspectedSpam ? ', spam?' : ''),
    Mobile: row.mobile,
    Order: `${row.quantity} × ${products.replace(`${brand.name} `, '')}`,
    'Received IST': timeCell(row.receivedAt),
    Mail: mailCell(row),
    Name: row.name,
    Email: row.email,
    Type: retailerSelfUse,
    Note: row.note ?? '',
  }
}

/** The first mail that did not arrive, or else the state of the notice. */
function mailCell({ mails }: Row): string {
  const [notice] = mails.filter(({ kind }) => kind === 'Notice')
  const undelivered = mails.find(({ kind, status }) => kind !== 'Post' && undeliveredStates.includes(status))
  if (undelivered) return `${kinds[undelivered.kind].short} ${undelivered.status}`
  return notice?.lastError?.startsWith(IN_SUMMARY) ? 'In summary' : (notice?.status ?? '')
}
