import { brand } from '../../shared/brand.ts'
import type { Db } from '../database/database.ts'
import type { Prisma } from '../database/generated/client.ts'
import { toEnquiry } from '../enquiries/enquiry.ts'
import { IN_SUMMARY, kinds, rejectedStates } from '../mail/states.ts'
import { type Filters, likePattern, mobileDigits, toFilter, UsageError, withFilters } from './input.ts'
import { type AddCommand, printTable, type Terminal, timeCell, writeJson } from './output.ts'
import { byTime, type Row, readRecords, recordAccessTo, withMails } from './records.ts'

const LISTED_MAX = 50

interface ListOptions {
  json?: boolean
  oldest?: boolean
}

export function listCommand(add: AddCommand, terminal: Terminal) {
  withFilters(add('list'))
    .description('list the enquiries, newest first; a star after the status means that there is a note')
    .argument('[text...]', 'only those with this text in the name, address, mobile number, reference or note')
    .option('--new', 'those that nobody has answered yet: the same as --status New')
    .option('--spam', 'suspected spam')
    .option('--oldest', 'oldest first')
    .option('--json', 'for programs: everything of each, as in the export')
    .action(async (words: string[], options: Filters & ListOptions & { new?: boolean; spam?: boolean }) => {
      if (options.new && options.status) throw new UsageError('Use either --new or --status')
      const text = words.join(' ').trim()
      const where = {
        ...toFilter(options.new ? { ...options, status: 'New' } : options),
        ...(options.spam && { suspectedSpam: true }),
        ...(text && textFilter(text)),
      }
      await terminal.onDatabase((db) => printEnquiries(terminal, db, where, options))
    })
}

export function textFilter(text: string): Prisma.EnquiryWhereInput {
  const pattern = likePattern(text).replace(/['‘’]/g, '_').replace(/\s+/g, '%')
  const contains = { contains: pattern, mode: 'insensitive' } as const
  const [code] = /[0-9A-Z]{6}$/.exec(text.replace(/[\s-]/g, '').toUpperCase()) ?? []
  const digits = mobileDigits(text)
  return {
    OR: [
      { name: contains },
      { email: contains },
      { reference: contains },
      { note: contains },
      ...(code ? [{ reference: { endsWith: code } }] : []),
      ...(digits ? [{ mobile: { contains: digits } }] : []),
    ],
  }
}

async function printEnquiries(
  terminal: Terminal,
  db: Db,
  where: Prisma.EnquiryWhereInput,
  { json, oldest }: ListOptions,
) {
  const { print } = terminal
  const orderBy = byTime(oldest ? 'asc' : 'desc')
  if (json) {
    await recordAccessTo(terminal, db, where)
    return writeJson(terminal, readRecords(db, where, oldest ? 'asc' : 'desc'))
  }
  const rows = await db.enquiry.findMany({ where, include: withMails, orderBy, take: LISTED_MAX })
  await terminal.recordAccess(db, rows)
  if (rows.length === 0) {
    const isEmpty = (await db.enquiry.count()) === 0
    const hint =
      "This database holds no enquiries. Is it the site's database? DATA_DIR or DATABASE_URL says which it is."
    return print(isEmpty ? hint : 'There is no such enquiry.')
  }
  printTable(terminal, rows.map(toCells))
  const more = (await db.enquiry.count({ where })) - rows.length
  if (more > 0) print(`and ${more.toLocaleString('en-IN')} more: --json shows all`)
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
  const notice = mails.find(({ kind }) => kind === 'Notice')
  const undelivered = mails.find(({ kind, status }) => kind !== 'Post' && rejectedStates.includes(status))
  if (undelivered) return `${kinds[undelivered.kind].short} ${undelivered.status}`
  return notice?.lastError?.startsWith(IN_SUMMARY) ? 'In summary' : (notice?.status ?? '')
}
