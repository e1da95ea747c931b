import type { Logger } from 'pino'
import { type Db, readNow } from '../database/database.ts'
import { takeLease } from '../database/lease.ts'
import { DAY_MS } from '../format.ts'
import { deleteExpiredSubscribers } from './subscribers.ts'

const LEASE = 'retention'
/** How long after the start, and after each run, the next run begins. */
const RUN_MS = 3_600_000
/** Enquiries erased by one statement: few enough for its time limit. */
const CHUNK = 500
/** If the last lease ended longer ago, the database's clock may be wrong: it is watched for a day first. */
const OFFLINE_MAX_DAYS = 31
const WAITS_A_DAY = `old enquiries are erased tomorrow: by the database's clock the last run was more than ${OFFLINE_MAX_DAYS} days ago`

/** The site's role may erase only by this function, and never an enquiry younger than a month. */
export async function eraseOldEnquiries(db: Db, before: Date): Promise<number> {
  let erased = 0
  while (true) {
    const [{ count }] = await db.$queryRaw<[{ count: number }]>`
      SELECT "Quvera_erase_old"(${before}, ${CHUNK}::int) AS "count"`
    if (count === 0) return erased
    erased += count
  }
}

/** The same day of an earlier month, or its last day. */
export function monthsBefore(now: Date, months: number): Date {
  const result = new Date(now)
  result.setUTCMonth(result.getUTCMonth() - months)
  if (result.getUTCDate() !== now.getUTCDate()) result.setUTCDate(0)
  return result
}

/**
 * Each hour deletes subscriptions that expired. Once a day, in one of all processes, erases enquiries older than `months`
 * (0: none) and access log lines older than a year. A clock that is wrongly ahead would erase too much: nothing is erased in
 * the first hour, and no enquiry on the first day, or for a day after a long time without a run.
 */
export function startRetention(db: Db, months: number, log: Logger): () => void {
  async function run() {
    const now = await readNow(db)
    const count = await deleteExpiredSubscribers(db, now)
    if (count > 0) log.info({ count }, 'unconfirmed and ended subscriptions were deleted')
    const lastLease = await db.lease.findUnique({ where: { name: LEASE } }) // its `until` is a day after the last run
    // Each run has a new holder, so that no process renews the lease: the first to find the lease expired erases.
    const isOurs = await takeLease(db, LEASE, crypto.randomUUID(), DAY_MS / 1000)
    if (!isOurs || !lastLease) return // without a last lease it has never run on this database: wait a day
    if (now.getTime() - lastLease.until.getTime() > OFFLINE_MAX_DAYS * DAY_MS) return log.warn(WAITS_A_DAY)
    const erased = await eraseOldEnquiries(db, months ? monthsBefore(now, months) : new Date(0))
    if (erased > 0) log.info({ erased, months }, 'old enquiries were erased')
  }
  function logFailure(err: unknown) {
    const advice = 'if sqlState is 42501 (missing privilege), run prisma/roles.sql again'
    log.error({ err }, `old enquiries could not be erased; ${advice}`)
  }
  const timer = setInterval(() => run().catch(logFailure), RUN_MS)
  return () => clearInterval(timer)
}
