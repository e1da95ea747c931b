import { brand } from '../../shared/brand.ts'
import type { Db } from '../database/database.ts'
import { toEnquiry } from '../enquiries/enquiry.ts'
import { mailState } from '../mail/states.ts'
import { count, inIndiaShort } from '../words.ts'
import { UsageError } from './command.ts'
import { toRecord } from './enquiry-csv.ts'
import type { EnquiryFilter } from './filters.ts'
import { type Column, printTable } from './terminal-table.ts'

const LIMIT = 50

export const listOptions = { limit: { type: 'string' }, json: { type: 'boolean', default: false } } as const

export const listHelp = `  --limit NUMBER        at most so many, ${LIMIT} unless given; with --json all
  --json                for programs: everything of each, as in the export`

export interface ListOptions {
  limit: number | undefined
  json: boolean
}

export function readListOptions({ limit, json }: { limit?: string | undefined; json: boolean }): ListOptions {
  if (limit !== undefined && !/^[1-9]\d{0,5}$/.test(limit))
    throw new UsageError(`"${limit}" is not a number of enquiries`)
  return { json, limit: limit === undefined ? (json ? undefined : LIMIT) : Number(limit) }
}

/** Prints the enquiries of the filter, newest first. */
export async function printEnquiries(db: Db, where: EnquiryFilter, { limit, json }: ListOptions): Promise<void> {
  const rows = await db.enquiry.findMany({
    where,
    include: { mails: { select: { kind: true, status: true, lastError: true } } },
    orderBy: [{ receivedAt: 'desc' }, { id: 'desc' }],
    ...(limit !== undefined && { take: limit }),
  })
  if (json) return console.log(JSON.stringify(rows.map(toRecord), numbers, 2))
  if (rows.length === 0) {
    const isEmpty = (await db.enquiry.count()) === 0
    const hint =
      'This database holds no enquiries. Is it the one of the site? DATA_DIR or DATABASE_URL says which it is.'
    return console.log(isEmpty ? hint : 'There is no such enquiry.')
  }
  printTable(columns, rows)
  const total = await db.enquiry.count({ where })
  if (total > rows.length)
    console.log(`and ${count(total - rows.length, 'older one', 'older ones')}: --limit ${total} shows all`)
}

function numbers(_: string, value: unknown) {
  return typeof value === 'bigint' ? Number(value) : value
}

type Row = Parameters<typeof toRecord>[0]

const columns: Column<Row>[] = [
  { title: 'Reference', cell: ({ reference }) => reference },
  { title: 'Received', cell: ({ receivedAt }) => inIndiaShort(receivedAt) },
  { title: 'Status', cell: ({ status, suspectedSpam }) => `${status}${suspectedSpam ? ', spam?' : ''}` },
  { title: 'Name', cell: ({ name }) => name, min: 12 },
  { title: 'Mobile', cell: ({ mobile }) => mobile },
  { title: 'Order', cell: order, spare: 1 },
  { title: 'Type', cell: (row) => toEnquiry(row).retailerSelfUse, spare: 3 },
  { title: 'Email', cell: ({ email }) => email, min: 20, spare: 4 },
  { title: 'Mail', cell: ({ mails }) => mailState(mails) },
  { title: 'Note', cell: ({ note }) => note ?? '', min: 10, spare: 2 },
]

function order(row: Row) {
  return `${row.quantity} × ${toEnquiry(row).products.replace(`${brand.name} `, '')}`
}
