import type { Logger } from 'pino'
import { DAY_MS } from '../../shared/indian-time.ts'
import { LINK_DAYS } from '../../shared/subscription.ts'
import { type Db, readNow } from '../database/database.ts'
import { isLeased, takeLease } from '../database/lease.ts'
import type { Env } from '../env.ts'
import { withholdStale } from '../mail/queue.ts'

const LEASE = 'retention'
/** How long after the start, and after each run, the next run begins. */
const RUN_MS = 3_600_000
/** Rows erased by one statement: few enough for its time limit. */
const CHUNK = 500
/** If the last lease ended longer ago, the database's clock may be wrong: nothing is deleted for as long again. */
const DOUBT_DAYS = 31
const DOUBT_SECONDS = (DOUBT_DAYS * DAY_MS) / 1000
const DOUBT_LEASE = 'retention is in doubt'
const IN_DOUBT = `nothing is erased for ${DOUBT_DAYS} days: by the database's clock the last run was longer ago. Is that clock right?`

/** What the function `Quvera_erase_old` erases. The site's role may not erase otherwise, and an enquiry younger than a month only as it was asked. */
const ERASED_DAILY = ['access lines', 'mails to staff', 'enquiries'] as const
const TAKEN_BACK = 'what was taken back'

/** Repeats a deletion of one portion until nothing is left. @returns how many rows were deleted */
async function inPortions(deletePortion: () => Promise<number>): Promise<number> {
  let deleted = 0
  while (true) {
    const count = await deletePortion()
    if (count === 0) return deleted
    deleted += count
  }
}

async function eraseOld(
  db: Db,
  what: (typeof ERASED_DAILY)[number] | typeof TAKEN_BACK,
  before: Date,
): Promise<number> {
  const [{ count }] = await db.$queryRaw<[{ count: number }]>`
    SELECT "Quvera_erase_old"(${what}, ${before}, ${CHUNK}::int) AS "count"`
  return count
}

/** Those of which somebody has asked it a day ago. The function bounds how many in a day, and writes the access log. */
async function eraseAsked(db: Db, log: Logger): Promise<number> {
  const erased = await db.$queryRaw<{ reference: string }[]>`SELECT "Quvera_erase_asked"() AS "reference"`
  if (erased.length > 0)
    log.info({ references: erased.map(({ reference }) => reference) }, 'erased, as somebody asked a day ago')
  return erased.length
}

/** The same day of an earlier month, or its last day. */
export function monthsBefore(now: Date, months: number): Date {
  const result = new Date(now)
  result.setUTCMonth(result.getUTCMonth() - months)
  if (result.getUTCDate() !== now.getUTCDate()) result.setUTCDate(0)
  return result
}

/**
 * Each hour deletes subscriptions that expired, enquiries of which somebody has asked it, and texts that were taken back, and
 * withholds posts that no sender looks at any more. Once a day, in one of all processes, erases enquiries, summaries and sign-in
 * mails older than RETENTION_MONTHS (0: none), and access log lines older than a year.
 * @returns ends it, and resolves once no run is under way
 */
export function startRetention(db: Db, env: Env, log: Logger): () => Promise<void> {
  const { RETENTION_MONTHS: months } = env

  async function run() {
    const last = await db.lease.findUnique({ where: { name: LEASE } }) // its `until` is a day after the last run
    if (await isInDoubt(last?.until)) return
    const now = await readNow(db)
    const ended = await erase('ended subscriptions', () => deleteExpiredSubscribers(db, now, CHUNK))
    if (ended > 0) log.info({ count: ended }, 'unconfirmed and ended subscriptions were deleted')
    await erase('enquiries of which it was asked', () => eraseAsked(db, log))
    await erase(TAKEN_BACK, () => eraseOld(db, TAKEN_BACK, now))
    // Each run has a new holder, so that no process renews the lease: the first to find it expired erases.
    const isOurs = await takeLease(db, LEASE, crypto.randomUUID(), DAY_MS / 1000)
    if (!isOurs || !last) return // on its first day a database may have been restored with a wrong clock: nothing is erased
    const before = months ? monthsBefore(now, months) : new Date(0)
    for (const what of ERASED_DAILY) {
      const erased = await erase(what, () => eraseOld(db, what, before))
      if (erased > 0 && what === 'enquiries') log.info({ erased, months }, 'old enquiries were erased')
    }
  }

  /** In portions. What cannot be erased is logged, and keeps nothing else. */
  function erase(what: string, deletePortion: () => Promise<number>): Promise<number> {
    return inPortions(deletePortion).catch((err) => {
      logFailure(err, what)
      return 0
    })
  }

  /**
   * A clock that is wrongly ahead would erase too much. If it has jumped by more than DOUBT_DAYS since the last run, nothing is
   * erased for as long again: by then staff have seen the wrong dates.
   */
  async function isInDoubt(lastUntil: Date | undefined): Promise<boolean> {
    const gapMs = lastUntil ? (await readNow(db)).getTime() - lastUntil.getTime() : 0
    if (gapMs > DOUBT_DAYS * DAY_MS) {
      if (await takeLease(db, DOUBT_LEASE, crypto.randomUUID(), DOUBT_SECONDS)) log.warn(IN_DOUBT)
      await takeLease(db, LEASE, crypto.randomUUID(), DAY_MS / 1000) // the next run sees no gap
    }
    return isLeased(db, DOUBT_LEASE, DOUBT_SECONDS)
  }

  function logFailure(err: unknown, what = 'what is old') {
    const advice = 'if sqlState is 42501 (missing privilege), run prisma/roles.sql again'
    log.error({ err }, `${what} could not be erased; ${advice}`)
  }
  let running = Promise.resolve()
  const timer = setInterval(() => {
    const withholdPosts = () => withholdStale(db, env, ['Post'])
    running = run()
      .catch((err) => logFailure(err))
      .then(withholdPosts)
      .catch((err) => log.error({ err }, 'posts of an earlier NOTIFY_URL could not be withheld'))
  }, RUN_MS)
  return () => {
    clearInterval(timer)
    return running
  }
}

/**
 * At most so many; whoever calls repeats it until it returns none. An unconfirmed address without EndsAt was restored from a
 * backup: its time begins now.
 * @returns how many were deleted
 */
export async function deleteExpiredSubscribers(db: Db, now: Date, limit: number): Promise<number> {
  const before = new Date(now.getTime() - DAY_MS)
  const endsAt = new Date(now.getTime() + LINK_DAYS * DAY_MS)
  while (
    (await db.subscriber.updateMany({ where: { confirmedAt: null, endsAt: null }, data: { endsAt }, limit })).count
  );
  return (await db.subscriber.deleteMany({ where: { endsAt: { lt: before } }, limit })).count
}
