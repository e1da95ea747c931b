import type { Logger } from 'pino'
import { brand } from '../../shared/brand.ts'
import { formatAge, formatCount } from '../../shared/count.ts'
import { DAY_MS, formatIndianDay, formatIndianTime, parseIndianTime } from '../../shared/indian-time.ts'
import type { Db } from '../database/database.ts'
import { type Enquiry, inOrder, REMINDED, readEnquiries, TODAY, WAITING } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailStatus } from '../database/generated/enums.ts'
import type { Env } from '../env.ts'
import { summaryIntervalMs } from './kinds.ts'
import { TO_RING } from './of-enquiry.ts'
import { transition } from './queue.ts'
import { lineOf } from './templates.ts'
import { CHANGED_BY_VISITOR, ERASURE_UNTOLD, HAS_WAITED, LAST_SUMMARY_AT, SUSPECTED, UNTOLD } from './told.ts'

/*
 * A summary is a doorbell: a mail to each of staff that says how many enquiries wait and which of them need something. The
 * digest is one, too. It holds no data of a visitor, so erasing a person does not change it.
 */

const LOOK_MS = 15_000
/** After a failure, or where there was nothing to say. */
const LOOK_AGAIN_MS = 60_000
/** The digest is written within this time after DIGEST_AT, or not at all that day. */
const DIGEST_WITHIN_MS = 6 * 3_600_000
/** A summary within this time before DIGEST_AT, or within the interval if that is shorter, takes the place of the digest. */
const DIGEST_QUIET_MS = 12 * 3_600_000
/** In a list so many enquiries have a line each; of the others the number is told. */
const LINES_MAX = 10
/** So many are counted. */
const COUNTED_MAX = 10_000
const NOT_READ = 'What has to be mended could not be read: see the log.'
/** It may be the wrong one. */
const IS_NEW =
  'The database was made within the last day. If it should hold earlier enquiries, it is not the right one: see the runbook.'

export interface SummaryOptions {
  /** What somebody has to mend, in sentences. They may name addresses of staff. */
  readProblems: () => Promise<string[]>
  log: Pick<Logger, 'error'>
}

type Settings = Pick<Env, 'STAFF_EMAILS' | 'MAIL_DAILY_BUDGET' | 'DIGEST_AT'>

/** Writes a summary if one is due. Call it as often as you like: it looks when it is time. */
export function createSummaryWriter(db: Db, env: Settings, { readProblems, log }: SummaryOptions) {
  let nextLookAt = 0 // by this process's monotonic clock
  return async () => {
    if (performance.now() < nextLookAt) return
    nextLookAt = performance.now() + LOOK_MS
    try {
      if (!isDue(await readFacts(db), env)) return
      const problems = await readProblems().catch((err) => {
        log.error({ err }, 'what has to be mended could not be read')
        return [NOT_READ] // and no reason not to ring
      })
      if (!(await writeSummary(db, env, problems))) nextLookAt = performance.now() + LOOK_AGAIN_MS
    } catch (err) {
      nextLookAt = performance.now() + LOOK_AGAIN_MS
      log.error({ err }, 'a summary could not be written; it will be tried again')
    }
  }
}

/** What decides whether a summary is due. Times are the database's. */
export interface SummaryFacts {
  now: Date
  /** When the database was made. */
  madeAt: Date
  /** Whether a real enquiry that was received a minute ago is untold, or one that a visitor asked to erase. */
  isUntold: boolean
  /** Whether there is suspected spam to tell of. */
  isSuspected: boolean
  /** When the last summary was written; null if there never was one. */
  lastAt: Date | null
  /** The states of the mails of the last summary. */
  lastStates: MailStatus[]
  /** To whom the last summary was written, in lower case. */
  lastReceivers: string[]
}

function isDue(facts: SummaryFacts, env: Settings): boolean {
  return isSummaryDue(facts, env) || isDigestDue(facts, env)
}

/**
 * An enquiry is untold, and the last summary is older than the interval; than a day, if a further one would not arrive either.
 * Without a digest also once a day, if there is suspected spam.
 */
export function isSummaryDue(facts: SummaryFacts, env: Settings): boolean {
  const { now, isUntold, isSuspected, lastAt, lastStates, lastReceivers } = facts
  const { STAFF_EMAILS: staff, MAIL_DAILY_BUDGET: budget, DIGEST_AT } = env
  const sinceLast = lastAt ? now.getTime() - lastAt.getTime() : Number.POSITIVE_INFINITY
  if (DIGEST_AT === 'off' && isSuspected && sinceLast >= DAY_MS) return true
  const hasReached = lastStates.some((state) => ['Sent', 'Delivered', 'Complained'].includes(state))
  const isWithheld = lastStates.every((state) => state === 'Withheld') // also if there was none
  const hasNewReceiver = staff.some((address) => !lastReceivers.includes(address.toLowerCase()))
  const wouldReachNobody = !hasReached && !isWithheld && !hasNewReceiver
  return isUntold && sinceLast >= (wouldReachNobody ? DAY_MS : summaryIntervalMs(budget, staff.length))
}

/**
 * The net: the latest DIGEST_AT, in India, was less than six hours ago, the database is older than it, and no summary was written
 * since one interval before it, or, if that one has reached nobody, since it. Whether there is something to say is seen when it
 * is written.
 */
export function isDigestDue(facts: SummaryFacts, env: Settings): boolean {
  const { STAFF_EMAILS: staff, MAIL_DAILY_BUDGET: budget, DIGEST_AT } = env
  if (DIGEST_AT === 'off') return false
  const { now, madeAt, lastAt, lastStates } = facts
  const today = parseIndianTime(formatIndianDay(now), DIGEST_AT).getTime()
  const latest = today <= now.getTime() ? today : today - DAY_MS
  if (now.getTime() - latest >= DIGEST_WITHIN_MS || madeAt.getTime() >= latest) return false
  const isLost = lastStates.every((state) => ['Bounced', 'Failed', 'Unknown'].includes(state))
  const quietMs = isLost ? 0 : Math.min(summaryIntervalMs(budget, staff.length), DIGEST_QUIET_MS)
  return !lastAt || lastAt.getTime() <= latest - quietMs
}

/** By clock_timestamp, as another process may have written a summary since this transaction began. */
async function readFacts(db: Pick<Db, '$queryRaw'>): Promise<SummaryFacts> {
  const isThere = (where: Prisma.Sql) => Prisma.sql`EXISTS (SELECT FROM "Quvera_Form" form WHERE ${where})`
  const [facts] = await db.$queryRaw<[SummaryFacts]>`
    WITH last AS (SELECT "Status", "To" FROM "Quvera_Mail" WHERE "Kind" = 'Summary' AND "QueuedAt" = ${LAST_SUMMARY_AT})
    SELECT clock_timestamp() AS "now", (SELECT min(finished_at) FROM _prisma_migrations) AS "madeAt",
      ${isThere(UNTOLD)} OR ${isThere(ERASURE_UNTOLD)} AS "isUntold",
      ${isThere(Prisma.sql`${SUSPECTED} AND ${HAS_WAITED}`)} AS "isSuspected",
      ${LAST_SUMMARY_AT} AS "lastAt",
      ARRAY(SELECT "Status"::text FROM last) AS "lastStates", ARRAY(SELECT lower("To") FROM last) AS "lastReceivers"`
  return facts
}

/**
 * Looks again when no other process can write one, and writes what there is to say. A summary replaces all that were not tried.
 * @returns whether there was anything to say
 */
async function writeSummary(db: Db, env: Settings, problems: string[]): Promise<boolean> {
  return db.$transaction(
    async (transaction) => {
      // The second of two waits here, and then sees the summary of the first. A lock of its own: for the lease others ask each second.
      await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('Quvera summary'))`
      const facts = await readFacts(transaction)
      const text = isDue(facts, env) && (await composeSummary(transaction, facts, problems))
      if (!text) return false
      const untried = Prisma.sql`mail."Kind" = 'Summary' AND mail."Status" = 'Pending' AND mail."FirstTriedAt" IS NULL`
      await transition(transaction, 'Withheld', untried, { because: 'Replaced' })
      await transaction.$executeRaw`
        INSERT INTO "Quvera_Mail" ("Kind", "To", "Text")
        SELECT 'Summary', "To", ${text} FROM unnest(${env.STAFF_EMAILS}::text[]) AS "To"`
      return true
    },
    { maxWait: 10_000, timeout: 10_000, isolationLevel: 'ReadCommitted' },
  )
}

/** The first line is the subject. Undefined if there is nothing to say. */
async function composeSummary(
  db: Pick<Db, '$queryRaw'>,
  { now, madeAt }: SummaryFacts,
  problems: string[],
): Promise<string | undefined> {
  const isOfYesterday = Prisma.sql`${WAITING} AND form."ReceivedAt" <= now() - interval '24 hours'`
  const isReminded = Prisma.sql`${REMINDED} AND form."RemindOn" <= ${TODAY}`
  /** `said` follows the number in the subject. */
  const lists: [title: string, said: string, where: Prisma.Sql][] = [
    ['No notice of these has arrived', 'not mailed one by one', UNTOLD],
    ['These wait for more than a day', 'for more than a day', isOfYesterday],
    ['Their acknowledgement has not arrived, as far as is known, so ring them', 'to ring', TO_RING],
    ['You wanted to ring these again today', 'to ring again', isReminded],
    ['Visitors changed these on their pages', 'changed by visitors', CHANGED_BY_VISITOR],
    ['Suspected spam, without an acknowledgement', 'suspected', SUSPECTED],
  ]
  const read = async ([title, said, where]: (typeof lists)[number]) => ({
    title,
    said,
    ...(await readOldest(db, where)),
  })
  const found = (await Promise.all(lists.map(read))).filter(({ count }) => count > 0)
  if (found.length === 0 && problems.length === 0) return undefined
  const waiting = await readOldest(db, WAITING)
  const age = (enquiry: Enquiry) => formatAge((now.getTime() - enquiry.receivedAt.getTime()) / 1000)
  const [oldest] = waiting.oldest
  const subject = [
    ...(problems.length > 0 ? [formatCount(problems.length, 'problem')] : []),
    oldest ? `${waiting.count.toLocaleString('en-IN')} waiting, the oldest for ${age(oldest)}` : 'nothing waits',
    ...found.map(({ count, said }) => `${count.toLocaleString('en-IN')} ${said}`),
  ]
  const blocks = found.map(({ title, count, oldest }) =>
    [
      `${title} (${count.toLocaleString('en-IN')}):`,
      ...oldest.map((enquiry) => `${lineOf(enquiry)}, ${age(enquiry)}`),
      ...(count > oldest.length ? [`and ${(count - oldest.length).toLocaleString('en-IN')} more`] : []),
    ].join('\n'),
  )
  const title = `${brand.name}: ${subject.join(', ')}, ${formatIndianTime(now)}`
  const isNew = now.getTime() - madeAt.getTime() < DAY_MS
  return [title, ...problems, ...(isNew ? [IS_NEW] : []), ...blocks].join('\n\n')
}

/** Those that wait longest, and how many there are. */
async function readOldest(db: Pick<Db, '$queryRaw'>, where: Prisma.Sql): Promise<{ oldest: Enquiry[]; count: number }> {
  const oldest = await readEnquiries(db, Prisma.sql`WHERE ${where} ORDER BY ${inOrder('oldest')} LIMIT ${LINES_MAX}`)
  if (oldest.length < LINES_MAX) return { oldest, count: oldest.length }
  const [{ count }] = await db.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS "count" FROM (SELECT FROM "Quvera_Form" form WHERE ${where} LIMIT ${COUNTED_MAX}) AS counted`
  return { oldest, count }
}
