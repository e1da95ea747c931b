import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { takeLease } from '../database/lease.ts'
import { DROP_COPIES } from '../database/snapshot.ts'
import { DAY_MS } from '../format.ts'
import { deleteExpiredSubscribers } from './subscribers.ts'

const LEASE = 'retention'
const LOOK_MS = 3_600_000
/** Few enough for one statement to stay well within the time limit of a query. */
const CHUNK = 500
/** Longer than a site is away, or without a single enquiry before it first erases. */
const LEAP_DAYS = 31

const LEAP = `enquiries past their time are not erased: the database's clock is more than ${LEAP_DAYS} days after the last time that is known. Where it is right, by hand once: staff erase --older-than`

/** Erases enquiries with their mails. The site's role may do so only by this function, which leaves the last month. */
export async function eraseOldEnquiries(db: Db, before: Date): Promise<number> {
  let erased = 0
  for (let count = CHUNK; count > 0; erased += count) {
    const [row] = await db.$queryRaw<
      [{ count: number }]
    >`SELECT "Quvera_erase_old"(${before}, ${CHUNK}::int) AS "count"`
    count = row.count
  }
  if (erased > 0) await db.$executeRawUnsafe(DROP_COPIES)
  return erased
}

/** The same day of the month so many months before, or the last one of a shorter month. */
export function monthsBefore(now: Date, months: number): Date {
  const result = new Date(now)
  result.setUTCMonth(result.getUTCMonth() - months)
  if (result.getUTCDate() !== now.getUTCDate()) result.setUTCDate(0)
  return result
}

/**
 * Erases what is older than `months` (0: no enquiry) once a day, in one of all processes, and each hour lines of who looked
 * after a year, and subscribers who did not confirm or have left; all by the database's clock. What a clock set ahead
 * makes old would be gone for good: so nothing is erased in the first hour, in which such a clock is put right, nor long
 * after the time that is known to have been: of enquiries until a person has erased by hand. Returns what ends it.
 */
export function startRetention(db: Db, months: number, log: Logger): () => void {
  async function erase() {
    try {
      const { now, isLeap } = await readTime(db)
      const before = months ? monthsBefore(now, months) : new Date(0)
      if (isLeap && (await db.enquiry.count({ where: { receivedAt: { lt: before } } })) > 0)
        return log.error(`${LEAP} ${months}m`)
      // By another name each time, so that nobody renews it: who finds it run out is the one that erases.
      const isFirst = await takeLease(db, LEASE, crypto.randomUUID(), DAY_MS / 1000)
      if (isLeap) {
        if (isFirst && months) log.info({ erased: 0, months }, 'enquiries past their time were erased')
        return
      }
      const erased = isFirst ? await eraseOldEnquiries(db, before) : 0
      if (isFirst && months) log.info({ erased, months }, 'enquiries past their time were erased')
      const count = await deleteExpiredSubscribers(db, now)
      if (count > 0) log.info({ count }, 'addresses that nobody confirmed, or that were ended, were forgotten')
    } catch (error) {
      const remedy = 'for 42501 run prisma/roles.sql again'
      log.error({ err: error }, `what is past its time could not be erased; ${remedy}`)
    }
  }
  readTime(db).catch(() => undefined) // an hour later it is told
  const timer = setInterval(erase, LOOK_MS)
  return () => clearInterval(timer)
}

/** Before the first time, the newest enquiry is what is known of the time; from then on the lease is. */
async function readTime(db: Db): Promise<{ now: Date; isLeap: boolean }> {
  await db.$executeRaw`
    INSERT INTO "Quvera_Lease" ("Name", "Holder", "Until")
    SELECT ${LEASE}, 'the newest enquiry', coalesce(max("ReceivedAt"), now()) FROM "Quvera_Form"
    ON CONFLICT ("Name") DO NOTHING`
  const [time] = await db.$queryRaw<[{ now: Date; isLeap: boolean }]>`
    SELECT now() AS "now", "Until" < now() - make_interval(days => ${LEAP_DAYS}) AS "isLeap"
    FROM "Quvera_Lease" WHERE "Name" = ${LEASE}`
  return time
}
