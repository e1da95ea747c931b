import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { brand } from '../../shared/brand.ts'
import { formatIndianDay, formatIndianTime, parseIndianTime } from '../../shared/indian-time.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { takeLease } from '../database/lease.ts'
import { toEnquiry } from '../enquiries/enquiry.ts'
import type { Env } from '../env.ts'
import { DAY_MS, formatCount, staffCommand } from '../format.ts'
import { CHUNK, transition } from './queue.ts'
import { allowanceOf, summaryPauseMs } from './quota.ts'
import { replyCode } from './resend.ts'
import { IN_SUMMARY, kinds, undelivered } from './states.ts'
import { maskLargeQuantity } from './templates.ts'
import { budgetOf, type Usage } from './usage.ts'

/*
 * A summary is a mail to staff about several enquiries and problems; the daily digest is one too. It holds no personal data
 * and no text of a stranger, so erasing a person does not change it.
 */

const LEASE = 'digest'
const WAIT_MS = 60_000
const LISTED_MAX = 50
const NAMED_MAX = 1000

const TITLES = {
  included: 'Not mailed one by one, because there were too many or they may be spam.',
  undelivered: 'Nobody has been told of these: their notice did not arrive.',
  toCall: 'Ring these visitors: their acknowledgement did not arrive, or was marked as spam.',
  waiting: 'Still New after 24 hours.',
  reopened: 'Closed, and opened again in Prisma Studio or psql within 24 hours.',
}

/** The text; its first line is the subject. Undefined if there is nothing to report. `noticeIds`: notices that it replaces. */
export async function readSummary(db: Db, now: Date, noticeIds: bigint[] = []): Promise<string | undefined> {
  const newest = { id: { in: noticeIds.slice(-LISTED_MAX - NAMED_MAX) } }
  const dayAgo = new Date(now.getTime() - DAY_MS)
  const stillNew: Prisma.EnquiryWhereInput = { status: 'New', receivedAt: { lte: dayAgo } }
  // `who` is null for changes in Studio and psql. Studio can reopen an enquiry by mistake: it saves the row as it read it.
  const outsideStaffCommand = { column: 'Status', before: 'Closed', who: null, at: { gt: dayAgo } }
  const wasReopened: Prisma.EnquiryWhereInput = { status: { not: 'Closed' }, history: { some: outsideStaffCommand } }
  const lists = await Promise.all([
    readList(db, TITLES.included, { mails: { some: newest } }, 'list --new', noticeIds.length),
    readList(db, TITLES.undelivered, { mails: { some: undelivered.notices } }, 'mails'),
    readList(db, TITLES.toCall, { mails: { some: undelivered.acknowledgements } }, 'mails'),
    readList(db, TITLES.waiting, stillNew, 'list --new'),
    readList(db, TITLES.reopened, wasReopened, 'list'),
  ])
  const [included = 0, notices = 0, visitors = 0, waiting = 0, reopened = 0] = lists.map(({ total }) => total)
  const summaries = await db.mail.findMany({ where: undelivered.summaries, select: { id: true, status: true } })
  const missing = notices + visitors + summaries.length
  const subject = [
    included && formatCount(included, 'enquiry', 'enquiries'),
    waiting && formatCount(waiting, 'enquiry waits', 'enquiries wait'),
    reopened && formatCount(reopened, 'enquiry reopened', 'enquiries reopened'),
    missing && formatCount(missing, 'mail did not arrive', 'mails did not arrive'),
  ].filter(Boolean)
  if (subject.length === 0) return undefined
  return [
    `${brand.name}: ${subject.join(', ')}, ${formatIndianTime(now)}`,
    ...lists.flatMap(({ text }) => text ?? []),
    ...summaries.map(({ id, status }) => `Summary ${id} did not arrive (${status}): ${staffCommand('list --new')}`),
    `${staffCommand('show REFERENCE')} shows everything about an enquiry. ${staffCommand('status REFERENCE Contacted')} removes it from this list.`,
  ].join('\n\n')
}

/** The newest in a line each, more by their reference, and how to show the rest. */
async function readList(db: Db, title: string, where: Prisma.EnquiryWhereInput, command: string, known?: number) {
  const total = known ?? (await db.enquiry.count({ where }))
  if (total === 0) return { total }
  const rows = await db.enquiry.findMany({
    where,
    include: { mails: { where: undelivered.ofAnyKind } },
    orderBy: [{ receivedAt: 'desc' }, { id: 'desc' }],
    take: LISTED_MAX + NAMED_MAX,
  })
  const lines = rows.slice(0, LISTED_MAX).map((row) => {
    const { reference, quantity, products, retailerSelfUse } = toEnquiry(row)
    const spam = row.suspectedSpam ? ['suspected spam'] : []
    const results = row.mails.map(({ kind, status, lastError }) =>
      [kinds[kind].short, status, replyCode(lastError)].filter(Boolean).join(' '),
    )
    const what = `${maskLargeQuantity(quantity)} × ${products}, ${retailerSelfUse}`
    return [reference, what, formatIndianTime(row.receivedAt), ...spam, ...results].join(' · ')
  })
  const named = rows.slice(LISTED_MAX).map(({ reference }) => reference)
  if (named.length > 0) lines.push(`Also: ${named.join(', ')}`)
  if (total > rows.length) lines.push(`And ${total - rows.length} more: ${staffCommand(command)}`)
  return { total, text: [title, ...lines].join('\n') }
}

/**
 * Writes a summary `waitMs` after a notice begins to wait for one, and not before the pause since the last summary is over.
 * While the limit of notices is reached, it replaces due notices too. Also writes the digest.
 */
export function createSummaryWriter(db: Db, env: Env, log: Pick<Logger, 'info' | 'error'>, waitMs = WAIT_MS) {
  const budget = budgetOf(env)
  let isLimitReached = false
  let waitsSince = performance.now()

  return async (usage: Usage, isUpkeep: boolean) => {
    const { now, used, hasNoticeForSummary, hasUntriedNotice, hasUntriedSummary, sinceLastSummaryMs } = usage
    isLimitReached = hasUntriedNotice && (isLimitReached || allowanceOf(budget, used).Notice === 0)
    if (!hasNoticeForSummary && !isLimitReached) waitsSince = performance.now()
    const isPauseOver = sinceLastSummaryMs === null || sinceLastSummaryMs >= summaryPauseMs(budget, used.Summary)
    const isDue = isPauseOver && !hasUntriedSummary && performance.now() - waitsSince >= waitMs
    if (isDue) waitsSince = performance.now()
    try {
      if (isDue) await writeSummary(db, now, isLimitReached)
      else if (isUpkeep && env.DIGEST_AT && (await writeDigestIfDue(db, env.DIGEST_AT, now, isLimitReached)))
        log.info('the digest of the day is written')
    } catch (err) {
      log.error({ err }, 'a summary could not be written; it will be tried again')
    }
  }
}

/**
 * Writes a summary of untried notices without DueAt (`includeDue`: of all untried ones), then withholds exactly those: if
 * the process dies in between, the next summary names the rest once more. Returns false if there was nothing to report.
 */
export async function writeSummary(db: Db, now: Date, includeDue: boolean): Promise<boolean> {
  const notices = await db.$queryRaw<{ id: bigint }[]>`
    SELECT "Id" AS "id" FROM "Quvera_Mail"
    WHERE "Status" = 'Pending' AND "Kind" = 'Staff' AND "TriedAt" IS NULL AND (${includeDue} OR "DueAt" IS NULL)
    ORDER BY "Id"`
  const ids = notices.map(({ id }) => id)
  const text = await readSummary(db, now, ids)
  if (!text) return false
  const summary = await queueSummary(db, text)
  for (let start = 0; start < ids.length; start += CHUNK) {
    const chunk = ids.slice(start, start + CHUNK).map(String)
    const where = Prisma.sql`mail."Id" = ANY(${chunk}::bigint[]) AND mail."TriedAt" IS NULL`
    await transition(db, 'Withheld', where, Prisma.sql`, "LastError" = ${`${IN_SUMMARY} ${summary}.`}, "DueAt" = NULL`)
  }
  return true
}

export async function queueSummary(db: Db, text: string): Promise<bigint> {
  return (await db.mail.create({ data: { kind: 'Summary', text, key: `${kinds.Summary.key}/${randomUUID()}` } })).id
}

/**
 * Writes today's digest from the time `at` in India on. A lease until the next day's time marks it as done, also when it
 * was empty. The lease is taken after the digest is written: if the process dies in between, the digest is written twice.
 */
export async function writeDigestIfDue(db: Db, at: string, now: Date, includeDue: boolean): Promise<boolean> {
  const due = parseIndianTime(formatIndianDay(now), at)
  const isDone = await db.lease.count({
    where: { name: LEASE, until: { gt: now, lt: new Date(due.getTime() + 2 * DAY_MS) } },
  })
  if (now < due || isDone > 0) return false
  const isWritten = await writeSummary(db, now, includeDue)
  await takeLease(db, LEASE, randomUUID(), (due.getTime() + DAY_MS - now.getTime()) / 1000, DAY_MS / 1000)
  return isWritten
}
