import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { takeLease } from '../database/lease.ts'
import { DAY_MS, staffCommand } from '../format.ts'
import { deleteExpiredSubscribers } from './subscribers.ts'

const LEASE = 'retention'
/** How long after the start, and after each run, the next run begins. */
const RUN_MS = 3_600_000
/** Enquiries erased by one statement: few enough for its time limit. */
const CHUNK = 500
/** A clock this far after the last known time may be wrong. No site is stopped, or gets no enquiry, for so long. */
const CLOCK_JUMP_DAYS = 31

const CLOCK_JUMP = `old enquiries are not erased: the database's clock jumped by more than ${CLOCK_JUMP_DAYS} days. If the clock is right, run once:`

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
 * Once a day, in one of all processes, erases enquiries older than `months` (0: none) and access log lines older than a
 * year; each hour subscriptions that expired. A clock that is wrongly ahead would erase too much: nothing is erased in the
 * first hour, and after a jump of the clock by more than CLOCK_JUMP_DAYS only by the staff command, if there is anything
 * to erase.
 */
export function startRetention(db: Db, months: number, log: Logger): () => void {
  async function erase() {
    const { now, isClockJump } = await readClock(db)
    const before = months ? monthsBefore(now, months) : new Date(0)
    // After a jump a run with something to erase only logs, until the staff command has erased it. One without only renews the
    // lease, whose end is then the last known time.
    if (isClockJump && (await db.enquiry.count({ where: { receivedAt: { lt: before } } })) > 0)
      return log.error(`${CLOCK_JUMP} ${staffCommand(`erase --older-than ${months}m --yes`)}`)
    // Each run has a new holder, so that no process renews the lease: the first to find the lease expired erases.
    const isFirst = await takeLease(db, LEASE, crypto.randomUUID(), DAY_MS / 1000)
    if (isClockJump) return
    const erased = isFirst ? await eraseOldEnquiries(db, before) : 0
    if (erased > 0) log.info({ erased, months }, 'old enquiries were erased')
    const count = await deleteExpiredSubscribers(db, now)
    if (count > 0) log.info({ count }, 'unconfirmed and ended subscriptions were deleted')
  }
  function logFailure(err: unknown) {
    const advice = 'if sqlState is 42501 (missing privilege), run prisma/roles.sql again'
    log.error({ err }, `old enquiries could not be erased; ${advice}`)
  }
  readClock(db).catch(() => undefined) // records the first known time; `erase` reports a failure an hour later
  const timer = setInterval(() => erase().catch(logFailure), RUN_MS)
  return () => clearInterval(timer)
}

/** The last known time is the end of the lease, a day after the last run; before the first run, the newest enquiry's time. */
async function readClock(db: Db): Promise<{ now: Date; isClockJump: boolean }> {
  await db.$executeRaw`
    INSERT INTO "Quvera_Lease" ("Name", "Holder", "Until")
    SELECT ${LEASE}, 'the newest enquiry', coalesce(max("ReceivedAt"), now()) FROM "Quvera_Form"
    ON CONFLICT ("Name") DO NOTHING`
  const [time] = await db.$queryRaw<[{ now: Date; isClockJump: boolean }]>`
    SELECT now() AS "now", "Until" < now() - make_interval(days => ${CLOCK_JUMP_DAYS}) AS "isClockJump"
    FROM "Quvera_Lease" WHERE "Name" = ${LEASE}`
  return time
}
