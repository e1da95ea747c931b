import { brand } from '../../shared/brand.ts'
import type { Db } from '../database/database.ts'
import type { MailStatus } from '../database/generated/enums.ts'
import { type EnquiryRow, toEnquiry } from '../enquiries/enquiry.ts'
import { scrub } from '../errors.ts'
import { ageInWords, count, inIndia, inIndiaShort } from '../words.ts'
import { isUndelivered, unacknowledged, untold } from './delivered.ts'

const WAITS_MS = 86_400_000
const WEEK_MS = 7 * 86_400_000
/** One page. */
const LINES_MAX = 15

interface Undelivered {
  status: MailStatus
  lastError: string | null
  enquiry: EnquiryRow | null
}

/** What staff are told once a day. */
export interface Digest {
  now: Date
  /** Enquiries still New after a day, the oldest first, and how many there are in all. */
  waiting: EnquiryRow[]
  waitingCount: number
  /** Notices that did not arrive, of enquiries that are New. */
  untold: Undelivered[]
  /** Acknowledgements that did not arrive, of enquiries that are New. */
  unacknowledged: Undelivered[]
  /** Of the last seven days. */
  enquiriesOfWeek: EnquiryRow[]
  mailsOfWeek: { status: MailStatus }[]
}

export async function readDigest(db: Pick<Db, 'enquiry' | 'mail'>, now: Date): Promise<Digest> {
  const waiting = { status: 'New' as const, receivedAt: { lte: new Date(now.getTime() - WAITS_MS) } }
  const ofWeek = { receivedAt: { gt: new Date(now.getTime() - WEEK_MS) } }
  const undelivered = { include: { enquiry: true }, orderBy: { id: 'asc' } } as const
  return {
    now,
    waiting: await db.enquiry.findMany({ where: waiting, orderBy: { receivedAt: 'asc' }, take: LINES_MAX }),
    waitingCount: await db.enquiry.count({ where: waiting }),
    untold: await db.mail.findMany({ where: untold, ...undelivered }),
    unacknowledged: await db.mail.findMany({ where: unacknowledged, ...undelivered }),
    enquiriesOfWeek: await db.enquiry.findMany({ where: ofWeek }),
    mailsOfWeek: await db.mail.findMany({ where: { enquiry: ofWeek }, select: { status: true } }),
  }
}

/** Whether anybody has something to do: the counts alone are no reason for a mail. */
export function hasNews({ waitingCount, untold, unacknowledged }: Digest): boolean {
  return waitingCount + untold.length + unacknowledged.length > 0
}

/**
 * The page, its first line the subject. It names enquiries by their reference and holds nobody's name, address or
 * number, so that erasing a person has nothing to find in digests of the past.
 */
export function digestText(digest: Digest): string {
  const { now, untold, unacknowledged, waiting, waitingCount } = digest
  const missing = untold.length + unacknowledged.length
  const news = [
    ...(waitingCount ? [count(waitingCount, 'enquiry waits', 'enquiries wait')] : []),
    ...(missing ? [count(missing, 'mail did not arrive', 'mails did not arrive')] : []),
  ]
  const sections = [
    section(
      'Nobody has been told of these: their notice did not arrive.',
      untold.map((mail) => undeliveredLine(mail, now)),
    ),
    section(
      'Ring these visitors: their acknowledgement did not arrive, the address is wrong.',
      unacknowledged.map((mail) => undeliveredLine(mail, now)),
    ),
    section(
      'Still New after 24 hours, the oldest first.',
      waiting.map(
        (row) => `${enquiryLine(row, now)} · for ${ageInWords((now.getTime() - row.receivedAt.getTime()) / 1000)}`,
      ),
      waitingCount,
    ),
    section('The last seven days.', weekLines(digest)),
  ]
  return [
    `${brand.name}: ${news.join(', ') || 'nothing waits'}, ${inIndia(now)}`,
    ...sections.filter(Boolean),
    'staff show REFERENCE tells everything of an enquiry; staff status REFERENCE Contacted takes it off this list.',
  ].join('\n\n')
}

function section(title: string, lines: string[], total = lines.length): string {
  if (lines.length === 0) return ''
  const shown = lines.slice(0, LINES_MAX)
  const more = total > shown.length ? [`and ${total - shown.length} more`] : []
  return [title, ...shown, ...more].join('\n')
}

function undeliveredLine({ status, lastError, enquiry }: Undelivered, now: Date) {
  const reason = scrub(lastError ?? '')
  const told = reason.toLowerCase().startsWith(status.toLowerCase()) ? [reason] : [status, ...(reason ? [reason] : [])]
  return `${enquiry ? enquiryLine(enquiry, now) : '-'} · ${told.join(': ')}`
}

function enquiryLine(row: EnquiryRow, now: Date) {
  const { reference, receivedAt, quantity, products, retailerSelfUse } = { ...row, ...toEnquiry(row) }
  const spam = row.suspectedSpam ? ' · suspected spam' : ''
  return `${reference} · ${inIndiaShort(receivedAt, now)} · ${quantity} × ${products}, ${retailerSelfUse}${spam}`
}

function weekLines({ enquiriesOfWeek, mailsOfWeek }: Digest) {
  const spam = enquiriesOfWeek.filter(({ suspectedSpam }) => suspectedSpam).length
  return [
    `${count(enquiriesOfWeek.length, 'enquiry', 'enquiries')}${spam ? `, ${spam} of them suspected spam` : ''}`,
    tally(enquiriesOfWeek.map(({ status }) => status)),
    tally(enquiriesOfWeek.map((row) => toEnquiry(row).products)),
    tally(enquiriesOfWeek.map((row) => toEnquiry(row).retailerSelfUse)),
    `${count(mailsOfWeek.length, 'mail', 'mails')}, ${mailsOfWeek.filter(({ status }) => isUndelivered(status)).length} did not arrive`,
  ].filter(Boolean)
}

/** `8 New, 3 Closed`. */
function tally(names: string[]) {
  return [...new Set(names)]
    .sort()
    .map((name) => `${names.filter((each) => each === name).length} ${name}`)
    .join(', ')
}
