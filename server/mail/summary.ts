import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { brand } from '../../shared/brand.ts'
import { formatIndianDay, formatIndianTime, parseIndianTime } from '../../shared/indian-time.ts'
import { type Db, readNow } from '../database/database.ts'
import { ENQUIRY, type Enquiry, inOrder } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import { isLeased, takeLease } from '../database/lease.ts'
import type { Env } from '../env.ts'
import { DAY_MS, formatCount } from '../format.ts'
import { readProblems } from '../operations/problems.ts'
import { summaryIntervalMs } from './budget.ts'
import { TO_RING, transition } from './queue.ts'
import { MAIL_LEASE } from './states.ts'
import { lineOf } from './templates.ts'

/*
 * A summary is a mail to each of staff about several enquiries and problems; the daily digest is one too. It holds no personal
 * data and no text of a visitor, so erasing a person does not change it.
 */

const DIGEST_LEASE = 'digest'
const WAIT_MS = 60_000
/** In a list so many enquiries have a line each; of the others the number is told. */
const LINES_MAX = 10
/** So many enquiries are told of by one summary; further ones wait for the next. */
const NAMED_MAX = 2000

const NEW_DATABASE =
  'The database was made within the last day. If it should hold earlier enquiries, it is not the right one: see the runbook.'

interface List {
  /** What the subject says of it, such as `1 enquiry waits`, `2 enquiries wait`. */
  one: string
  many: string
  title: string
  count: number
  /** The newest ones. */
  newest: Enquiry[]
}

/** Writes the summaries and the digest that are due. `waitMs`: how long a summary waits for more enquiries. */
export function createSummaryWriter(db: Db, env: Env, log: Pick<Logger, 'error'>, waitMs = WAIT_MS) {
  let nextTryAt = 0 // by this process's monotonic clock
  return async (isUpkeep: boolean) => {
    if (performance.now() < nextTryAt) return
    try {
      if (await isSummaryDue(db, env, waitMs))
        await writeSummary(db, env, (locked) => isSummaryDue(locked, env, waitMs))
      else if (isUpkeep && env.DIGEST_AT !== 'off') await writeDigestIfDue(db, env, await readNow(db))
    } catch (err) {
      nextTryAt = performance.now() + waitMs
      log.error({ err }, 'a summary could not be written; it will be tried again')
    }
  }
}

/** What a summary waits for, in milliseconds since then; null: never. */
interface SummaryFacts {
  /** Since the first enquiry is untold. */
  untoldMs: number | null
  /** The same of suspected spam. */
  untoldSpamMs: number | null
  /** Since the last summary. */
  lastMs: number | null
  /** A mail of the last summary was taken, or a restore has withheld it. */
  wasTaken: boolean
  /** To whom the last summary was written, in lower case. */
  lastReceivers: string[]
}

async function isSummaryDue(db: Pick<Db, '$queryRaw'>, env: Env, waitMs: number): Promise<boolean> {
  return isDueBy(await readFacts(db), env, waitMs)
}

/**
 * An enquiry is told of `waitMs` after it is first untold, but not before the interval since the last summary is over (a day
 * at most), and not on the same day as one that reached nobody, unless staff have a new address. Suspected spam begets a
 * summary once a day.
 */
export function isDueBy(
  { untoldMs, untoldSpamMs, lastMs, wasTaken, lastReceivers }: SummaryFacts,
  { STAFF_EMAILS: staff, MAIL_DAILY_BUDGET: budget }: Pick<Env, 'STAFF_EMAILS' | 'MAIL_DAILY_BUDGET'>,
  waitMs: number,
): boolean {
  const isEnquiryDue = untoldMs !== null && untoldMs >= waitMs
  const isSpamDue = untoldSpamMs !== null && untoldSpamMs >= waitMs
  if (lastMs === null || lastMs >= DAY_MS) return isEnquiryDue || isSpamDue
  if (!isEnquiryDue || lastMs < summaryIntervalMs(budget, staff.length)) return false
  return wasTaken || staff.some((address) => !lastReceivers.includes(address.toLowerCase()))
}

/** By clock_timestamp, as another process may have written a summary since this transaction began. */
async function readFacts(db: Pick<Db, '$queryRaw'>): Promise<SummaryFacts> {
  const since = (time: Prisma.Sql) => Prisma.sql`(extract(epoch FROM clock_timestamp() - ${time}) * 1000)::float`
  const firstUntold = (isSpam: boolean) =>
    Prisma.sql`(SELECT min("UntoldSince") FROM "Quvera_Form" WHERE "SuspectedSpam" = ${isSpam} AND "UntoldSince" IS NOT NULL)`
  const [facts] = await db.$queryRaw<[SummaryFacts]>`
    WITH last AS (SELECT "Id", "At" FROM "Quvera_Summary" WHERE "At" <= clock_timestamp() ORDER BY "At" DESC LIMIT 1),
      mails AS (SELECT "Status", "WithheldBecause", "To" FROM "Quvera_Mail" WHERE "SummaryId" = (SELECT "Id" FROM last))
    SELECT ${since(firstUntold(false))} AS "untoldMs", ${since(firstUntold(true))} AS "untoldSpamMs",
      ${since(Prisma.sql`(SELECT "At" FROM last)`)} AS "lastMs",
      EXISTS (SELECT FROM mails WHERE "Status" IN ('Sent', 'Delivered', 'Complained') OR "WithheldBecause" = 'Restored') AS "wasTaken",
      ARRAY(SELECT lower("To") FROM mails) AS "lastReceivers"`
  return facts
}

/**
 * In one transaction reads the enquiries that staff have not been told of, composes the text from them, and marks just these
 * as told. A notice or a status that changes meanwhile waits for its end.
 * @param isDue asked once more when no other process can write one
 * @returns whether there was anything to tell
 */
export async function writeSummary(
  db: Db,
  env: Env,
  isDue: (db: Pick<Db, '$queryRaw'>) => Promise<boolean> = async () => true,
  isDigest = false,
): Promise<boolean> {
  const problems = await readProblems(db, env, { withAddresses: true, siteSeconds: process.uptime() })
  return db.$transaction(
    async (transaction) => {
      // Meanwhile no other process can renew its lease, and so none writes a summary.
      await transaction.$queryRaw`SELECT FROM "Quvera_Lease" WHERE "Name" = ${MAIL_LEASE} FOR UPDATE`
      if (!(await isDue(transaction))) return false
      const untold = await transaction.$queryRaw<Enquiry[]>`
        SELECT ${ENQUIRY} FROM "Quvera_Form" form WHERE "UntoldSince" IS NOT NULL
        ORDER BY "SuspectedSpam", "UntoldSince" LIMIT ${NAMED_MAX} FOR NO KEY UPDATE`
      // A summary that was not tried for a day gives way to this one, which then also lists what waits.
      const untried = Prisma.sql`mail."Kind" = 'Summary' AND mail."Status" = 'Pending' AND mail."FirstTriedAt" IS NULL
        AND mail."QueuedAt" <= now() - interval '1 day'`
      const replaced = await transition(transaction, 'Withheld', untried, { because: 'TooOld' })
      const text = await composeSummary(transaction as Db, untold, problems, isDigest || replaced > 0)
      if (!text) return false
      await transaction.$executeRaw`
        UPDATE "Quvera_Form" SET "UntoldSince" = NULL WHERE "Id" = ANY(${untold.map(({ id }) => id)}::uuid[])`
      await transaction.$executeRaw`
        WITH summary AS (INSERT INTO "Quvera_Summary" ("Text") VALUES (${text}) RETURNING "Id")
        INSERT INTO "Quvera_Mail" ("SummaryId", "Kind", "To")
        SELECT "Id", 'Summary', "To" FROM summary CROSS JOIN unnest(${env.STAFF_EMAILS}::text[]) AS "To"`
      return true
    },
    { maxWait: 10_000, timeout: 10_000, isolationLevel: 'ReadCommitted' },
  )
}

/** The first line is the subject. Undefined if there is nothing to tell. */
async function composeSummary(
  db: Db,
  untold: Enquiry[],
  problems: string[],
  withWaiting: boolean,
): Promise<string | undefined> {
  const now = await readNow(db)
  const isNew = withWaiting && Number(now) - Number(await readMadeAt(db)) < DAY_MS
  const ofUntold = (isSpam: boolean) => {
    const enquiries = untold.filter(({ suspectedSpam }) => suspectedSpam === isSpam)
    const byTime = enquiries.toSorted((a, b) => Number(b.receivedAt) - Number(a.receivedAt))
    return { count: enquiries.length, newest: byTime.slice(0, LINES_MAX) }
  }
  const lists: List[] = [
    { one: 'enquiry', many: 'enquiries', title: 'Not mailed one by one:', ...ofUntold(false) },
    ...(withWaiting ? await readWaiting(db) : []),
    {
      ...{ one: 'suspected', many: 'suspected', title: 'Suspected spam, without an acknowledgement:' },
      ...ofUntold(true),
    },
  ].filter(({ count }) => count > 0)
  const subject = [
    ...lists.map(({ count, one, many }) => formatCount(count, one, many)),
    ...(problems.length > 0 ? [formatCount(problems.length, 'problem', 'problems')] : []),
    ...(isNew ? ['a new database'] : []),
  ]
  if (subject.length === 0) return undefined
  const title = `${brand.name}: ${subject.join(', ')}, ${formatIndianTime(now)}`
  return [title, ...problems, ...(isNew ? [NEW_DATABASE] : []), ...lists.map(listText)].join('\n\n')
}

function listText({ title, count, newest }: List): string {
  const lines = newest.map((enquiry) => `${lineOf(enquiry)} · ${formatIndianTime(enquiry.receivedAt)}`)
  const more = count - newest.length
  return [title, ...lines, ...(more > 0 ? [`and ${more.toLocaleString('en-IN')} more`] : [])].join('\n')
}

/** Enquiries that are New and need something from staff. */
async function readWaiting(db: Db): Promise<List[]> {
  const read = async (from: Prisma.Sql) => {
    const newest = await db.$queryRaw<Enquiry[]>`
      SELECT ${ENQUIRY} FROM ${from} ORDER BY ${inOrder()} LIMIT ${LINES_MAX}`
    const [{ count }] = await db.$queryRaw<[{ count: number }]>`SELECT count(*)::int AS "count" FROM ${from}`
    return { newest, count }
  }
  const isLate = Prisma.sql`"Quvera_Form" form
    WHERE form."Status" = 'New' AND NOT form."SuspectedSpam" AND form."ReceivedAt" <= now() - interval '24 hours'`
  const isToRing = Prisma.sql`"Quvera_Mail" mail JOIN "Quvera_Form" form ON form."Id" = mail."EnquiryId" WHERE ${TO_RING}`
  return [
    { one: 'enquiry waits', many: 'enquiries wait', title: 'Still New after 24 hours:', ...(await read(isLate)) },
    {
      ...{ one: 'visitor to ring', many: 'visitors to ring' },
      title: 'Their acknowledgement did not arrive, so ring them:',
      ...(await read(isToRing)),
    },
  ]
}

async function readMadeAt(db: Db): Promise<Date> {
  const [{ madeAt }] = await db.$queryRaw<
    [{ madeAt: Date }]
  >`SELECT min(finished_at) AS "madeAt" FROM _prisma_migrations`
  return madeAt
}

/**
 * Writes today's digest from DIGEST_AT in India on. While the lease `digest` lasts, today's is done, even if it was empty. It
 * is taken last: a process that dies before that may have the digest written twice, but not lost.
 */
export async function writeDigestIfDue(db: Db, env: Env, now: Date): Promise<boolean> {
  const due = parseIndianTime(formatIndianDay(now), env.DIGEST_AT)
  const isDue = async (any: Pick<Db, '$queryRaw'>) => !(await isLeased(any, DIGEST_LEASE, DAY_MS / 1000))
  if (now < due || !(await isDue(db)) || (await readMadeAt(db)) > due) return false // at that time there was no database
  const isWritten = await writeSummary(db, env, isDue, true)
  await takeLease(db, DIGEST_LEASE, randomUUID(), (due.getTime() + DAY_MS - now.getTime()) / 1000)
  return isWritten
}
