import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { takeLease } from '../database/lease.ts'
import { dropCopies } from '../database/snapshot.ts'
import { sqlState } from '../errors.ts'
import { DAY_MS } from '../words.ts'

const LEASE = 'retention'
const LOOK_MS = 3_600_000
/** Few enough for one statement to stay well within the time limit of a query. */
const CHUNK = 500
const REFUSED = '42501'

/** Erases the enquiries received before, with their mails, also from copies that a backup made or left. */
export async function eraseBefore(db: Db, before: Date): Promise<number> {
  let erased = 0
  for (;;) {
    const rows = await db.enquiry.findMany({
      where: { receivedAt: { lt: before } },
      select: { id: true },
      take: CHUNK,
    })
    if (rows.length === 0) break
    const { count } = await db.enquiry.deleteMany({ where: { id: { in: rows.map(({ id }) => id) } } })
    erased += count
  }
  await dropCopies(db)
  return erased
}

/** The same day of the month so many months before, or the last one of a shorter month. */
export function monthsBefore(now: Date, months: number): Date {
  const result = new Date(now)
  result.setUTCMonth(result.getUTCMonth() - months)
  if (result.getUTCDate() !== now.getUTCDate()) result.setUTCDate(0)
  return result
}

/** Erases what is older than `months` once a day, in one of all processes. Returns what ends it. */
export function startRetention(db: Db, months: number, log: Logger): () => void {
  async function erase() {
    try {
      // By another name each time, so that nobody renews it: who finds it run out is the one that erases.
      if (!(await takeLease(db, LEASE, crypto.randomUUID(), DAY_MS / 1000))) return
      const erased = await eraseBefore(db, monthsBefore(new Date(), months))
      log.info({ erased, months }, 'enquiries past their time were erased')
    } catch (error) {
      const remedy = 'GRANT DELETE ON "Quvera_Form" TO the role of the site, see prisma/roles.sql'
      if (sqlState(error) === REFUSED) log.error(`RETENTION_MONTHS cannot be kept: ${remedy}`)
      else log.error({ err: error }, 'enquiries past their time could not be erased')
    }
  }
  erase()
  const timer = setInterval(erase, LOOK_MS)
  return () => clearInterval(timer)
}
