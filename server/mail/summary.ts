import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { brand } from '../../shared/brand.ts'
import { formatIndianDay, formatIndianTime, parseIndianTime } from '../../shared/indian-time.ts'
import { findBackupProblem } from '../database/daily-backup.ts'
import { type Db, readNow } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { takeLease } from '../database/lease.ts'
import { toEnquiry } from '../enquiries/enquiry.ts'
import type { Env } from '../env.ts'
import { DAY_MS, formatCount, staffCommand } from '../format.ts'
import { type Budget, summaryIntervalMs } from './budget.ts'
import { CHUNK } from './queue.ts'
import { replyCode } from './resend-answers.ts'
import { IN_SUMMARY, kinds, NOT_ALONE, UNTOLD, undelivered } from './states.ts'
import { maskLargeQuantity } from './templates.ts'

/*
 * A summary is a mail to staff about several enquiries and problems; the daily digest is one too. It holds no personal data
 * and no text of a stranger, so erasing a person does not change it.
 */

const LEASE = 'digest'
const WAIT_MS = 60_000
const LISTED_MAX = 50
const NAMED_MAX = 1000
/** Rows that are read for a list, so that the cost does not grow with the table; and notices of one summary. */
const READ_MAX = 2000
const NOTICES_MAX = 10_000

const TITLES = {
  included: 'Not mailed one by one, because there were too many or they may be spam.',
  undelivered: 'Nobody has been told of these: their notice did not arrive.',
  toCall: 'Ring these visitors: their acknowledgement did not arrive, or was marked as spam.',
  waiting: 'Still New after 24 hours.',
  reopened: 'Closed, and opened again in Prisma Studio or psql within 24 hours.',
}

interface Listed {
  id: string
  reference: string
}

/** A notice that told nobody. */
interface Untold extends Listed {
  mail: bigint
  isNew: boolean
  isNotAlone: boolean
}

/** Notices that no summary has named yet: the first that began to wait, with their enquiries the newest first. */
function readUntold(db: Db): Promise<Untold[]> {
  return db.$queryRaw`
    SELECT mail."Id" AS "mail", mail."LastError" LIKE ${`${NOT_ALONE}%`} AS "isNotAlone", form."Id"::text AS "id",
      form."Reference" AS "reference", form."Status" = 'New' AS "isNew"
    FROM (SELECT * FROM "Quvera_Mail" WHERE ${UNTOLD}
      ORDER BY "DueAt" LIMIT ${NOTICES_MAX}) mail
    JOIN "Quvera_Form" form ON form."Id" = mail."EnquiryId"
    ORDER BY form."ReceivedAt" DESC, form."Id" DESC`
}

/** The text; its first line is the subject. Undefined if there is nothing to report. */
export async function readSummary(
  db: Db,
  now: Date,
  { notices, backupDir }: { notices?: Untold[]; backupDir?: string | undefined } = {},
): Promise<string | undefined> {
  const untold = (notices ?? (await readUntold(db))).filter(({ isNew }) => isNew)
  const dayAgo = new Date(now.getTime() - DAY_MS)
  const newest = (from: Prisma.Sql): Promise<Listed[]> => db.$queryRaw`
    SELECT form."Id"::text AS "id", form."Reference" AS "reference" FROM ${from}
    ORDER BY form."ReceivedAt" DESC, form."Id" DESC LIMIT ${READ_MAX}`
  const [toCall, waiting, reopened] = await Promise.all([
    newest(Prisma.sql`(
      SELECT "EnquiryId" FROM "Quvera_Mail"
      WHERE "Kind" = 'Acknowledgement' AND "Status" IN ('Bounced', 'Failed', 'Complained')
      ORDER BY "Id" DESC LIMIT ${READ_MAX}) mail
      JOIN "Quvera_Form" form ON form."Id" = mail."EnquiryId" AND form."Status" = 'New'`),
    newest(Prisma.sql`"Quvera_Form" form WHERE form."Status" = 'New' AND form."ReceivedAt" <= ${dayAgo}`),
    // "Who" is null for changes in Studio and psql. Studio can reopen an enquiry by mistake: it saves the row as it read it.
    newest(Prisma.sql`"Quvera_Form" form WHERE form."Status" <> 'Closed' AND form."Id" IN (
      SELECT "EnquiryId" FROM "Quvera_History"
      WHERE "At" > ${dayAgo} AND "Column" = 'Status' AND "Before" = 'Closed' AND "Who" IS NULL)`),
  ])
  const included = untold.filter(({ isNotAlone }) => isNotAlone)
  const lost = untold.filter(({ isNotAlone }) => !isNotAlone)
  const summaries = await db.mail.findMany({ where: undelivered.summaries, orderBy: { id: 'desc' }, take: LISTED_MAX })
  const backupProblem = backupDir && (await findBackupProblem(backupDir))
  const missing = lost.length + toCall.length + summaries.length
  const subject = [
    included.length && formatCount(included.length, 'enquiry', 'enquiries'),
    waiting.length && ifCut(waiting) + formatCount(waiting.length, 'enquiry waits', 'enquiries wait'),
    reopened.length && formatCount(reopened.length, 'enquiry reopened', 'enquiries reopened'),
    missing && ifCut(toCall) + formatCount(missing, 'mail did not arrive', 'mails did not arrive'),
    backupProblem && 'no backup',
  ].filter(Boolean)
  if (subject.length === 0) return undefined
  const lists = await Promise.all([
    listText(db, TITLES.included, included, 'list --new'),
    listText(db, TITLES.undelivered, lost, 'mails'),
    listText(db, TITLES.toCall, toCall, 'mails'),
    listText(db, TITLES.waiting, waiting, 'list --new'),
    listText(db, TITLES.reopened, reopened, 'list'),
  ])
  return [
    `${brand.name}: ${subject.join(', ')}, ${formatIndianTime(now)}`,
    ...lists.flat(),
    ...(backupProblem ? [`${backupProblem} The site's log says why.`] : []),
    ...summaries.map(({ id, status }) => `Summary ${id} did not arrive (${status}): ${staffCommand('list --new')}`),
    `${staffCommand('show REFERENCE')} shows everything about an enquiry. ${staffCommand('status REFERENCE Contacted')} removes it from this list.`,
  ].join('\n\n')
}

/** The newest in a line each, more by their reference, and how to show the rest. */
async function listText(db: Db, title: string, listed: Listed[], command: string): Promise<string[]> {
  if (listed.length === 0) return []
  const rows = await db.enquiry.findMany({
    where: { id: { in: listed.slice(0, LISTED_MAX).map(({ id }) => id) } },
    include: { mails: { where: undelivered.ofAnyKind } },
    orderBy: [{ receivedAt: 'desc' }, { id: 'desc' }],
  })
  const lines = rows.map((row) => {
    const { reference, quantity, products, retailerSelfUse } = toEnquiry(row)
    const spam = row.suspectedSpam ? ['suspected spam'] : []
    const results = row.mails.map(({ kind, status, lastError }) =>
      [kinds[kind].short, status, replyCode(lastError)].filter(Boolean).join(' '),
    )
    const what = `${maskLargeQuantity(quantity)} × ${products}, ${retailerSelfUse}`
    return [reference, what, formatIndianTime(row.receivedAt), ...spam, ...results].join(' · ')
  })
  const named = listed.slice(LISTED_MAX, LISTED_MAX + NAMED_MAX).map(({ reference }) => reference)
  if (named.length > 0) lines.push(`Also: ${named.join(', ')}`)
  const more = listed.length - LISTED_MAX - NAMED_MAX
  if (more > 0) lines.push(`And ${ifCut(listed)}${more} more: ${staffCommand(command)}`)
  return [[title, ...lines].join('\n')]
}

function ifCut({ length }: Listed[]): string {
  return length === READ_MAX ? 'at least ' : ''
}

/**
 * Writes a summary `waitMs` after the first notice begins to wait for one, and not before the interval since the last
 * summary is over. Also writes the digest.
 */
export function createSummaryWriter(
  db: Db,
  env: Env,
  budget: Budget,
  log: Pick<Logger, 'info' | 'error'>,
  waitMs = WAIT_MS,
) {
  const intervalMs = summaryIntervalMs(budget)
  let nextTryAt = 0 // by this process's monotonic clock
  return async (isUpkeep: boolean) => {
    if (performance.now() < nextTryAt) return
    try {
      if (await isSummaryDue(db, waitMs, intervalMs)) await writeSummary(db, await readNow(db), env.BACKUP_DIR)
      else if (
        isUpkeep &&
        env.DIGEST_AT !== 'off' &&
        (await writeDigestIfDue(db, env.DIGEST_AT, await readNow(db), env.BACKUP_DIR))
      )
        log.info('the digest of the day is written')
    } catch (err) {
      nextTryAt = performance.now() + waitMs
      log.error({ err }, 'a summary could not be written; it will be tried again')
    }
  }
}

async function isSummaryDue(db: Db, waitMs: number, intervalMs: number): Promise<boolean> {
  const before = (ms: number) => Prisma.sql`now() - make_interval(secs => ${ms / 1000})`
  const [{ isDue }] = await db.$queryRaw<[{ isDue: boolean | null }]>`
    SELECT (SELECT min("DueAt") FROM "Quvera_Mail" WHERE ${UNTOLD})
        <= ${before(waitMs)}
      AND coalesce((SELECT max("TriedAt") FROM "Quvera_Mail" WHERE "Kind" = 'Summary') <= ${before(intervalMs)}, TRUE)
      AND NOT EXISTS (SELECT FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "Kind" = 'Summary' AND "TriedAt" IS NULL)
      AS "isDue"`
  return isDue === true
}

/**
 * Writes a summary, then marks exactly the notices that it names: if the process dies in between, the next summary names
 * the rest once more. Returns false if there was nothing to report.
 */
export async function writeSummary(db: Db, now: Date, backupDir?: string): Promise<boolean> {
  const untold = await readUntold(db)
  const text = await readSummary(db, now, { notices: untold, backupDir })
  const key = `${kinds.Summary.key}/${randomUUID()}`
  const summary = text && (await db.mail.create({ data: { kind: 'Summary', text, key } }))
  const reason = summary ? `${IN_SUMMARY} ${summary.id}.` : 'Not sent: the enquiry was answered before.'
  for (let start = 0; start < untold.length; start += CHUNK) {
    const chunk = untold.slice(start, start + CHUNK).map(({ mail }) => String(mail))
    await db.$executeRaw`
      UPDATE "Quvera_Mail" SET "DueAt" = NULL,
        "LastError" = CASE "Status" WHEN 'Withheld' THEN ${reason} ELSE "LastError" END
      WHERE "Id" = ANY(${chunk}::bigint[]) AND ${UNTOLD}`
  }
  return summary !== undefined
}

/**
 * Writes today's digest from the time `at` in India on. A lease until the next day's time marks it as done, also when it
 * was empty. The lease is taken after the digest is written: if the process dies in between, the digest is written twice.
 */
export async function writeDigestIfDue(db: Db, at: string, now: Date, backupDir?: string): Promise<boolean> {
  const due = parseIndianTime(formatIndianDay(now), at)
  const isDone = await db.lease.count({
    where: { name: LEASE, until: { gt: now, lt: new Date(due.getTime() + 2 * DAY_MS) } },
  })
  if (now < due || isDone > 0) return false
  const isWritten = await writeSummary(db, now, backupDir)
  await takeLease(db, LEASE, randomUUID(), (due.getTime() + DAY_MS - now.getTime()) / 1000, DAY_MS / 1000)
  return isWritten
}
