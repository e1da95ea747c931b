import { randomUUID } from 'node:crypto'
import { brand } from '../../shared/brand.ts'
import type { Db } from '../database/database.ts'
import { takeLease } from '../database/lease.ts'
import { type EnquiryRow, fieldText, toEnquiry } from '../enquiries/enquiry.ts'
import { scrub } from '../errors.ts'
import { ageInWords, count, DAY_MS, dayInIndia, inIndia, momentInIndia } from '../words.ts'
import { queueDigest } from './owed.ts'
import { type MailFilter, mailKinds, statesThat, unacknowledged, untold } from './states.ts'

const LEASE = 'digest'
const TIMEOUT_MS = 60_000
const WEEK_DAYS = 7
/** One page. */
const LINES_MAX = 15

type Tables = Pick<Db, 'enquiry' | 'mail'>

/** What staff are told once a day. */
export type Digest = Awaited<ReturnType<typeof readDigest>>

/** Counts in the database: of however many rows no more than the lines of a page are read. */
export async function readDigest(db: Tables, now: Date) {
  const waiting = { status: 'New' as const, receivedAt: { lte: new Date(now.getTime() - DAY_MS) } }
  const ofWeek = { receivedAt: { gt: new Date(now.getTime() - WEEK_DAYS * DAY_MS) } }
  const undelivered = async (where: MailFilter) => ({
    rows: await db.mail.findMany({ where, include: { enquiry: true }, orderBy: { id: 'asc' }, take: LINES_MAX }),
    total: await db.mail.count({ where }),
  })
  return {
    now,
    /** Enquiries still New after a day, the oldest first, and how many there are in all. */
    waiting: {
      rows: await db.enquiry.findMany({ where: waiting, orderBy: { receivedAt: 'asc' }, take: LINES_MAX }),
      total: await db.enquiry.count({ where: waiting }),
    },
    untold: await undelivered(untold),
    unacknowledged: await undelivered(unacknowledged),
    week: {
      mails: await db.mail.groupBy({
        by: ['status'],
        where: { enquiry: ofWeek, kind: { in: mailKinds } },
        _count: true,
      }),
      enquiries: await db.enquiry.groupBy({
        by: ['status', 'products', 'retailerSelfUse', 'suspectedSpam'],
        where: ofWeek,
        _count: true,
      }),
    },
  }
}

/** Whether anybody has something to do: the counts alone are no reason for a mail. */
export function hasNews({ waiting, untold, unacknowledged }: Digest): boolean {
  return waiting.total + untold.total + unacknowledged.total > 0
}

/**
 * The page, its first line the subject. It names enquiries by their reference and holds nobody's name, address or
 * number, so that erasing a person has nothing to find in digests of the past.
 */
export function digestText(digest: Digest): string {
  const { now, untold, unacknowledged, waiting } = digest
  const missing = untold.total + unacknowledged.total
  const news = [
    ...(waiting.total ? [count(waiting.total, 'enquiry waits', 'enquiries wait')] : []),
    ...(missing ? [count(missing, 'mail did not arrive', 'mails did not arrive')] : []),
  ]
  const age = ({ receivedAt }: EnquiryRow) => ageInWords((now.getTime() - receivedAt.getTime()) / 1000)
  const sections = [
    section('Nobody has been told of these: their notice did not arrive.', untold, undeliveredLine),
    section(
      'Ring these visitors: their acknowledgement did not arrive, the address is wrong.',
      unacknowledged,
      undeliveredLine,
    ),
    section('Still New after 24 hours, the oldest first.', waiting, (row) => `${enquiryLine(row)} · for ${age(row)}`),
    ['The last seven days.', ...weekLines(digest.week)].join('\n'),
  ]
  return [
    `${brand.name}: ${news.join(', ') || 'nothing waits'}, ${inIndia(now)}`,
    ...sections.filter(Boolean),
    'staff show REFERENCE tells everything of an enquiry; staff status REFERENCE Contacted takes it off this list.',
  ].join('\n\n')
}

function section<Row>(title: string, { rows, total }: { rows: Row[]; total: number }, line: (row: Row) => string) {
  if (total === 0) return ''
  const more = total > rows.length ? [`and ${total - rows.length} more`] : []
  return [title, ...rows.map(line), ...more].join('\n')
}

function undeliveredLine({ status, lastError, enquiry }: Digest['untold']['rows'][number]) {
  const reason = scrub(lastError ?? '')
  const told = reason.toLowerCase().startsWith(status.toLowerCase()) ? [reason] : [status, ...(reason ? [reason] : [])]
  return `${enquiry ? enquiryLine(enquiry) : '-'} · ${told.join(': ')}`
}

function enquiryLine(row: EnquiryRow) {
  const { reference, receivedAt, quantity, products, retailerSelfUse } = { ...row, ...toEnquiry(row) }
  const spam = row.suspectedSpam ? ' · suspected spam' : ''
  return `${reference} · ${inIndia(receivedAt)} · ${quantity} × ${products}, ${retailerSelfUse}${spam}`
}

function weekLines({ mails, enquiries }: Digest['week']) {
  const spam = total(enquiries.filter(({ suspectedSpam }) => suspectedSpam))
  const missing = total(mails.filter(({ status }) => statesThat('undelivered').includes(status)))
  return [
    `${count(total(enquiries), 'enquiry', 'enquiries')}${spam ? `, ${spam} of them suspected spam` : ''}`,
    tally(enquiries, ({ status }) => status),
    tally(enquiries, ({ products }) => fieldText('products', products)),
    tally(enquiries, ({ retailerSelfUse }) => fieldText('retailerSelfUse', retailerSelfUse)),
    `${count(total(mails), 'mail', 'mails')}, ${missing} did not arrive`,
  ].filter(Boolean)
}

function total(groups: { _count: number }[]) {
  return groups.reduce((sum, { _count }) => sum + _count, 0)
}

/** `3 Closed, 8 New`. */
function tally<Group extends { _count: number }>(groups: Group[], nameOf: (group: Group) => string) {
  const byName = Object.entries(Object.groupBy(groups, nameOf)).sort(([a], [b]) => (a < b ? -1 : 1))
  return byName.map(([name, named = []]) => `${total(named)} ${name}`).join(', ')
}

/**
 * Queues today's digest if its time has come and no process has done so. Of all processes the one with the lease does
 * it, and nobody gets the lease again until the next day's time: not after a restart either. Lease and mail are one
 * transaction, so that a process that is killed leaves both or none. A day without news is done as well.
 * @returns whether it was queued now
 */
export async function queueIfDue(db: Db, at: string, now: Date): Promise<boolean> {
  const due = momentInIndia(dayInIndia(now), at)
  if (now < due) return false
  const secondsToNext = Math.ceil((due.getTime() + DAY_MS - now.getTime()) / 1000)
  const work = async (transaction: Tables & Pick<Db, '$executeRaw'>) => {
    if (!(await takeLease(transaction, LEASE, randomUUID(), secondsToNext, DAY_MS / 1000))) return false
    const digest = await readDigest(transaction, now)
    if (!hasNews(digest)) return false
    await queueDigest(transaction, digestText(digest))
    return true
  }
  return db.$transaction(work, { timeout: TIMEOUT_MS })
}
