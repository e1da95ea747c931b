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
import { replyCode } from './resend-answers.ts'
import { IN_SUMMARY, kinds, NOT_ALONE, rejectedStates, WAITS_FOR_SUMMARY, WITHHELD_BY_RESTORE } from './states.ts'
import { maskLargeQuantity } from './templates.ts'

/*
 * A summary is a mail to staff about several enquiries and problems; the daily digest is one too. It holds no personal data
 * and no text of a stranger, so erasing a person does not change it.
 */

const DIGEST_LEASE = 'digest'
const WAIT_MS = 60_000
/** In a list so many enquiries have a line each, and so many more are named by their references. */
const LINES_MAX = 50
const NAMED_MAX = 1000
/** The most rows of a list, and the most notices of a summary, so that the cost does not grow. Further notices wait. */
const READ_MAX = 2000
const NOTICES_MAX = 10_000

/** Mails that did not arrive, or perhaps did not (Unknown). */
const didNotArrive = { status: { in: [...rejectedStates, 'Unknown' as const] } }
export const undeliveredSummaries = { ...didNotArrive, kind: 'Summary' as const }

interface Listed {
  id: string
  reference: string
}

/** A notice that waits for a summary, with its enquiry. */
interface WaitingNotice extends Listed {
  mail: bigint
  isNew: boolean
  /** It was not mailed, because a summary tells of its enquiry. */
  isHeldBack: boolean
}

/** Those that have waited longest, at most `NOTICES_MAX`, in the order of their enquiries: the newest first. */
function readWaitingNotices(db: Db): Promise<WaitingNotice[]> {
  return db.$queryRaw`
    SELECT mail."Id" AS "mail", starts_with(mail."LastError", ${NOT_ALONE}) AS "isHeldBack", form."Id"::text AS "id",
      form."Reference" AS "reference", form."Status" = 'New' AS "isNew"
    FROM (SELECT * FROM "Quvera_Mail" WHERE ${WAITS_FOR_SUMMARY} ORDER BY "DueAt" LIMIT ${NOTICES_MAX}) mail
    JOIN "Quvera_Form" form ON form."Id" = mail."EnquiryId"
    ORDER BY form."ReceivedAt" DESC, form."Id" DESC`
}

/**
 * Composes the text; its first line is the subject. Undefined if there is nothing to report.
 * @param notices those that wait, if the caller has read them, because it marks the same ones as told
 */
export async function readSummary(
  db: Db,
  now: Date,
  backupDir?: string,
  notices?: WaitingNotice[],
): Promise<string | undefined> {
  const stillNew = (notices ?? (await readWaitingNotices(db))).filter(({ isNew }) => isNew)
  const heldBack = stillNew.filter(({ isHeldBack }) => isHeldBack)
  const untold = stillNew.filter(({ isHeldBack }) => !isHeldBack)
  const { toCall, waiting, reopened } = await readLists(db, new Date(now.getTime() - DAY_MS))
  const summaries = await db.mail.findMany({ where: undeliveredSummaries, orderBy: { id: 'desc' }, take: LINES_MAX })
  const backupProblem = backupDir && (await findBackupProblem(backupDir))
  const missing = untold.length + toCall.length + summaries.length
  const subject = [
    heldBack.length && formatCount(heldBack.length, 'enquiry', 'enquiries'),
    waiting.length && ifCut(waiting) + formatCount(waiting.length, 'enquiry waits', 'enquiries wait'),
    reopened.length && formatCount(reopened.length, 'enquiry reopened', 'enquiries reopened'),
    missing && ifCut(toCall) + formatCount(missing, 'mail did not arrive', 'mails did not arrive'),
    backupProblem && 'no backup',
  ].filter(Boolean)
  if (subject.length === 0) return undefined
  const lists: [title: string, enquiries: Listed[], command: string][] = [
    ['Not mailed one by one, because there were too many or they may be spam.', heldBack, 'list --new'],
    [
      'Nobody has been told of these, as far as is known: their notice did not arrive, or a restore held it back.',
      untold,
      'mails',
    ],
    ['Ring these visitors: their acknowledgement did not arrive, or was marked as spam.', toCall, 'mails'],
    ['Still New after 24 hours.', waiting, 'list --new'],
    ['Closed, and opened again in Prisma Studio or psql: listed for 24 hours, or until closed.', reopened, 'list'],
  ]
  const listed = lists.filter(([, enquiries]) => enquiries.length > 0)
  return [
    `${brand.name}: ${subject.join(', ')}, ${formatIndianTime(now)}`,
    ...(await Promise.all(listed.map((list) => listText(db, ...list)))),
    ...(backupProblem ? [`${backupProblem} The site's log says why.`] : []),
    ...summaries.map(({ id, status }) => `Summary ${id} did not arrive (${status}): ${staffCommand('list --new')}`),
    `${staffCommand('show REFERENCE')} shows everything about an enquiry. ${staffCommand('status REFERENCE Contacted')} removes an enquiry that is New from these lists.`,
  ].join('\n\n')
}

/** Enquiries that need something from staff, the newest first. */
async function readLists(db: Db, dayAgo: Date) {
  const newest = (from: Prisma.Sql): Promise<Listed[]> => db.$queryRaw`
    SELECT form."Id"::text AS "id", form."Reference" AS "reference" FROM ${from}
    ORDER BY form."ReceivedAt" DESC, form."Id" DESC LIMIT ${READ_MAX}`
  const toCall = await newest(Prisma.sql`(
    SELECT "EnquiryId" FROM "Quvera_Mail"
    WHERE "Kind" = 'Acknowledgement' AND "Status" IN ('Bounced', 'Failed', 'Complained')
    ORDER BY "Id" DESC LIMIT ${READ_MAX}) mail
    JOIN "Quvera_Form" form ON form."Id" = mail."EnquiryId" AND form."Status" = 'New'`)
  const waiting = await newest(
    Prisma.sql`"Quvera_Form" form WHERE form."Status" = 'New' AND form."ReceivedAt" <= ${dayAgo}`,
  )
  // "Who" is null for changes in Studio and psql. Studio can reopen an enquiry by mistake: it saves the row as it read it.
  const reopened = await newest(Prisma.sql`"Quvera_Form" form WHERE form."Status" <> 'Closed' AND form."Id" IN (
    SELECT "EnquiryId" FROM "Quvera_History"
    WHERE "At" > ${dayAgo} AND "Column" = 'Status' AND "Before" = 'Closed' AND "Who" IS NULL)`)
  return { toCall, waiting, reopened }
}

/** The newest in a line each, more by their references, and the command that shows the rest. */
async function listText(db: Db, title: string, enquiries: Listed[], command: string): Promise<string> {
  const rows = await db.enquiry.findMany({
    where: { id: { in: enquiries.slice(0, LINES_MAX).map(({ id }) => id) } },
    include: { mails: { where: didNotArrive } },
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
  const named = enquiries.slice(LINES_MAX, LINES_MAX + NAMED_MAX).map(({ reference }) => reference)
  if (named.length > 0) lines.push(`Also: ${named.join(', ')}`)
  const more = enquiries.length - LINES_MAX - NAMED_MAX
  if (more > 0) lines.push(`And ${ifCut(enquiries)}${more} more: ${staffCommand(command)}`)
  return [title, ...lines].join('\n')
}

function ifCut({ length }: Listed[]): string {
  return length === READ_MAX ? 'at least ' : ''
}

/**
 * Writes a summary `waitMs` after the first notice begins to wait for one, and not before the interval since the last
 * summary is over. Also writes the digest.
 */
export function createSummaryWriter(db: Db, env: Env, budget: Budget, log: Pick<Logger, 'error'>, waitMs = WAIT_MS) {
  const { DIGEST_AT: digestAt, BACKUP_DIR: backupDir } = env
  const intervalMs = summaryIntervalMs(budget)
  let nextTryAt = 0 // by this process's monotonic clock
  return async (isUpkeep: boolean) => {
    if (performance.now() < nextTryAt) return
    try {
      if (await isSummaryDue(db, waitMs, intervalMs)) await writeSummary(db, await readNow(db), backupDir)
      else if (isUpkeep && digestAt !== 'off') await writeDigestIfDue(db, digestAt, await readNow(db), backupDir)
    } catch (err) {
      nextTryAt = performance.now() + waitMs
      log.error({ err }, 'a summary could not be written; it will be tried again')
    }
  }
}

async function isSummaryDue(db: Db, waitMs: number, intervalMs: number): Promise<boolean> {
  const before = (ms: number) => Prisma.sql`now() - make_interval(secs => ${ms / 1000})`
  const [{ isDue }] = await db.$queryRaw<[{ isDue: boolean | null }]>`
    SELECT (SELECT min("DueAt") FROM "Quvera_Mail" WHERE ${WAITS_FOR_SUMMARY}) <= ${before(waitMs)}
      AND coalesce((SELECT max("TriedAt") FROM "Quvera_Mail" WHERE "Kind" = 'Summary') <= ${before(intervalMs)}, TRUE)
      AND NOT EXISTS (SELECT FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "Kind" = 'Summary' AND "TriedAt" IS NULL)
      AS "isDue"`
  return isDue === true
}

/**
 * Writes a summary, after which the notices that were read for it wait no longer. The summary tells of the enquiries that are
 * still New. Returns false if there was nothing to report.
 */
export async function writeSummary(db: Db, now: Date, backupDir?: string): Promise<boolean> {
  const notices = await readWaitingNotices(db)
  const text = await readSummary(db, now, backupDir, notices)
  const key = `${kinds.Summary.key}/${randomUUID()}`
  await db.$transaction(async (transaction) => {
    const summary = text && (await transaction.mail.create({ data: { kind: 'Summary', text, key } }))
    const told = summary ? notices.filter(({ isNew }) => isNew) : []
    const reason = summary ? `${IN_SUMMARY} ${summary.id}.` : null
    await transaction.$executeRaw`
      UPDATE "Quvera_Mail" SET "DueAt" = NULL,
        "LastError" = CASE
          WHEN "Status" <> 'Withheld' THEN "LastError" -- why it failed
          WHEN "LastError" = ${WITHHELD_BY_RESTORE} THEN "LastError" -- mails retry --restored looks for it
          WHEN "Id" = ANY(${idsOf(told)}::bigint[]) THEN ${reason} -- the summary names its enquiry
          -- Its enquiry is no longer New, so that the summary leaves it out.
          ELSE 'Not sent: the enquiry was answered before.' END
      WHERE "Id" = ANY(${idsOf(notices)}::bigint[]) AND ${WAITS_FOR_SUMMARY}`
  })
  return text !== undefined
}

function idsOf(notices: WaitingNotice[]): string[] {
  return notices.map(({ mail }) => String(mail))
}

/**
 * Writes today's digest from the time `at` in India on. While the lease `digest` lasts, today's is done, even if it was
 * empty. It is taken last: a process that dies before that may have the digest written twice, but never skipped.
 */
export async function writeDigestIfDue(db: Db, at: string, now: Date, backupDir?: string): Promise<boolean> {
  const due = parseIndianTime(formatIndianDay(now), at)
  const isDone = (await db.lease.count({ where: { name: DIGEST_LEASE, until: { gt: now } } })) > 0
  if (now < due || isDone) return false
  const isWritten = await writeSummary(db, now, backupDir)
  await takeLease(db, DIGEST_LEASE, randomUUID(), (due.getTime() + DAY_MS - now.getTime()) / 1000)
  return isWritten
}
