import { formatAge, formatCount } from '../../shared/count.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailStatus } from '../database/generated/enums.ts'
import type { Env } from '../env.ts'
import { STRANGERS_A_DAY, summaryIntervalMs } from '../mail/kinds.ts'
import { NOT_TAKEN } from '../mail/queue.ts'
import { LAST_SUMMARY_AT, UNTOLD } from '../mail/told.ts'
import { findBackupProblem, readDayOfNewDatabase } from './daily-backup.ts'

/* What somebody has to mend, for `/statusz`, the desk, the digest and `staff check`. */

const LATE_SECONDS = 15 * 60
/** An untold enquiry is a problem at two looks so far apart. */
const APART_MS = 60_000
/** A try pushes the DueAt of few mails: the oldest are among so many. */
const FIRST_MAX = 100

/** Mails to staff that were tried in the last 24 hours. */
const OF_A_DAY = Prisma.sql`"Quvera_Mail" WHERE "To" IS NOT NULL AND "FirstTriedAt" > now() - interval '24 hours'`

/**
 * Of mails that Resend has not taken: their further try is not due yet. One that waits for the budget is due. Without those of the
 * last minute, because a limit of a second is soon over.
 */
const IS_WAITING = Prisma.sql`mail."DueAt" > now() - interval '10 seconds' AND mail."QueuedAt" < now() - interval '1 minute'`

interface Facts {
  untoldSeconds: number | null
  lastSummarySeconds: number | null
  waitingSeconds: number | null
  /** Mails that wait for an address that is not one of STAFF_EMAILS here. */
  forOthers: number
  isRefused: boolean
  hasNoEvents: boolean
  isSummaryLost: boolean
  linksOfStrangers: number
  /** Enquiries that should be erased by now. */
  notErased: number
}

/** As the site reads them. An enquiry that is untold counts at two looks a minute apart: after an outage the sender comes first. */
export function createProblemReader(db: Db, env: Env) {
  let untoldSince: number | undefined
  function isLasting(isUntold: boolean): boolean {
    untoldSince = isUntold ? (untoldSince ?? performance.now()) : undefined
    return untoldSince !== undefined && performance.now() - untoldSince >= APART_MS
  }
  return (options: Pick<ProblemOptions, 'withAddresses'> = {}) =>
    readProblems(db, env, { ...options, onUntold: isLasting })
}

interface ProblemOptions {
  /** Sentences name addresses of staff. They hold no other personal data. */
  withAddresses?: boolean
  /** Decides whether an untold enquiry counts. */
  onUntold?: (isUntold: boolean) => boolean
}

/** A sentence for each problem; none if all is well. */
export async function readProblems(
  db: Db,
  env: Env,
  { withAddresses = false, onUntold = (isUntold) => isUntold }: ProblemOptions = {},
): Promise<string[]> {
  const { STAFF_EMAILS: staff, MAIL_DAILY_BUDGET: budget, BACKUP_DIR: backupDir } = env
  const addresses = staff.map((address) => address.toLowerCase())
  const facts = await readFacts(db, addresses)
  const untoldMax = summaryIntervalMs(budget, staff.length) / 1000 + LATE_SECONDS
  const isUntold =
    Number(facts.untoldSeconds) > untoldMax && (facts.lastSummarySeconds ?? Number.POSITIVE_INFINITY) > untoldMax
  const problems: [applies: unknown, text: string][] = [
    [onUntold(isUntold), `Nobody has been told of an enquiry for ${formatAge(Number(facts.untoldSeconds))}.`],
    [
      Number(facts.waitingSeconds) > LATE_SECONDS,
      `A mail to staff has waited for ${formatAge(Number(facts.waitingSeconds))}${env.RESEND_API_KEY ? '.' : ': RESEND_API_KEY is not set.'}`,
    ],
    [
      facts.forOthers,
      `${formatCount(facts.forOthers, 'mail waits', 'mails wait')} for an address that is not in STAFF_EMAILS.`,
    ],
    [
      facts.isRefused,
      'Resend takes no mails: it refuses RESEND_API_KEY or MAIL_FROM, or a limit of the account is used up.',
    ],
    [
      facts.hasNoEvents,
      `Mails went out, and Resend reports nothing of them: RESEND_WEBHOOK_SECRET is ${env.RESEND_WEBHOOK_SECRET ? 'wrong, or Resend has no webhook of this site' : 'not set'}.`,
    ],
    [facts.isSummaryLost, 'The last summary has reached nobody.'],
    [
      facts.linksOfStrangers >= STRANGERS_A_DAY,
      'All links to the desk that strangers may ask for in a day are used up: was it one of us?',
    ],
    [
      facts.notErased,
      `${formatCount(facts.notErased, 'enquiry', 'enquiries')} should be erased, as somebody has asked, and cannot be today: at most fifty are erased in a day.`,
    ],
  ]
  const atAddresses = (await readLostAddresses(db, addresses)).map(({ address, status }) => {
    const at = withAddresses ? address : 'an address of staff'
    return status === 'Complained' ? `A mail was marked as spam at ${at}.` : `The last mail to ${at} did not arrive.`
  })
  return [
    ...problems.flatMap(([applies, text]) => (applies ? [text] : [])),
    ...atAddresses,
    ...(backupDir ? await findBackupProblems(db, backupDir) : []),
  ]
}

async function findBackupProblems(db: Db, folder: string): Promise<string[]> {
  const overdue = await findBackupProblem(folder)
  const newSince = await readDayOfNewDatabase(db, folder)
  return [
    ...(overdue ? [overdue] : []),
    ...(newSince
      ? [
          `The database is new since ${newSince}, but BACKUP_DIR has backups from before: is it the right one? See the runbook.`,
        ]
      : []),
  ]
}

/** @param addresses those of staff, in small letters: the setting may have been typed anew in another case */
async function readFacts(db: Db, addresses: string[]): Promise<Facts> {
  const [facts] = await db.$queryRaw<[Facts]>`
    WITH first AS ( -- of those that wait: few, so that the cost does not grow
      SELECT mail.* FROM (VALUES ('Notice'::"Quvera_MailKind"), ('Summary')) AS kinds (kind) CROSS JOIN LATERAL (
        SELECT "QueuedAt", lower("To") AS address FROM "Quvera_Mail"
        WHERE "Status" = 'Pending' AND "Kind" = kind ORDER BY "DueAt" LIMIT ${FIRST_MAX}) mail
    )
    SELECT
      (SELECT extract(epoch FROM now() - min("ReceivedAt"))::float FROM "Quvera_Form" form WHERE ${UNTOLD}) AS "untoldSeconds",
      extract(epoch FROM now() - ${LAST_SUMMARY_AT})::float AS "lastSummarySeconds",
      (SELECT extract(epoch FROM now() - min("QueuedAt"))::float FROM first) AS "waitingSeconds",
      (SELECT count(*)::int FROM first WHERE address <> ALL(${addresses}::text[]))
        AS "forOthers",
      EXISTS (SELECT FROM "Quvera_Mail" mail WHERE ${NOT_TAKEN} AND ${IS_WAITING}) AS "isRefused",
      EXISTS (SELECT FROM ${OF_A_DAY} AND "SentAt" < now() - interval '1 hour' AND "Status" = 'Sent')
        AND NOT EXISTS (SELECT FROM ${OF_A_DAY} AND "Status" IN ('Delivered', 'Bounced', 'Complained')) AS "hasNoEvents",
      coalesce((SELECT bool_and("Status" IN ('Bounced', 'Failed', 'Unknown')) FROM "Quvera_Mail"
        WHERE "Kind" = 'Summary' AND "QueuedAt" = ${LAST_SUMMARY_AT} AND "QueuedAt" > now() - interval '2 days'), FALSE)
        AS "isSummaryLost",
      (SELECT count(*)::int FROM "Quvera_Mail" WHERE "Kind" = 'SignIn' AND "Mailbox" IS NULL
        AND "QueuedAt" > now() - interval '24 hours' AND "FirstTriedAt" IS NOT NULL) AS "linksOfStrangers",
      (SELECT count(*)::int FROM "Quvera_Form" WHERE "EraseAt" < now() - interval '3 hours') AS "notErased"`
  return facts
}

/**
 * Addresses of staff at which a mail of the last seven days did not arrive, or was marked as spam, and none has arrived since.
 * After a refusal by Resend (Failed) it is enough that it has taken one.
 */
function readLostAddresses(db: Db, addresses: string[]) {
  return db.$queryRaw<{ address: string; status: MailStatus }[]>`
    SELECT address, bad."Status"::text AS "status" FROM unnest(${addresses}::text[]) address
    CROSS JOIN LATERAL (
      SELECT "Status", "QueuedAt" FROM "Quvera_Mail"
      WHERE "Status" IN ('Bounced', 'Failed', 'Complained') AND "Kind" IN ('Notice', 'Summary', 'SignIn')
        AND lower("To") = address AND "QueuedAt" > now() - interval '7 days'
      ORDER BY "Id" DESC LIMIT 1) bad
    WHERE NOT EXISTS (SELECT FROM "Quvera_Mail"
      WHERE lower("To") = address AND "SentAt" > bad."QueuedAt"
        AND ("Status" = 'Delivered' OR (bad."Status" = 'Failed' AND "Status" = 'Sent')))`
}

/** Enquiries of which staff do not know yet. */
export async function countUntold(db: Db): Promise<number> {
  const [{ count }] = await db.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS "count" FROM "Quvera_Form" form WHERE ${UNTOLD}`
  return count
}

export async function readOldestNewEnquiry(db: Db) {
  const [oldest] = await db.$queryRaw<{ reference: string; seconds: number }[]>`
    SELECT "Reference" AS "reference", greatest(0, extract(epoch FROM now() - "ReceivedAt"))::int AS "seconds"
    FROM "Quvera_Form" WHERE "Status" = 'New' AND NOT "SuspectedSpam" ORDER BY "ReceivedAt" LIMIT 1`
  return oldest
}
