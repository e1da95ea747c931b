import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import { takeLease } from '../database/lease.ts'
import { digestText, hasNews, readDigest } from './digest.ts'

const LEASE = 'digest'
const DAY_MS = 86_400_000
const INDIA_MS = 5.5 * 3_600_000
const POLL_MS = 60_000

/** Writes the digest down as a mail that is owed: the outbox sends it like any other. */
export async function queueDigest(db: Pick<Db, 'mail'>, text: string): Promise<void> {
  await db.mail.createMany({ data: { kind: 'Digest', text } })
}

/** Queues the digest once a day from `at` on, Indian time. Returns what ends it. */
export function startDigest(db: Db, at: string, log: Pick<Logger, 'info' | 'error'>): () => void {
  async function look() {
    try {
      if (await queueIfDue(db, at, new Date())) log.info('the digest of the day is queued for staff')
    } catch (error) {
      log.error({ err: error }, 'the digest could not be written; it is tried again in a minute')
    }
  }
  look()
  const timer = setInterval(look, POLL_MS)
  return () => clearInterval(timer)
}

/**
 * Queues today's digest if its time has come and no process has done so. Of all processes the one with the lease does
 * it, and nobody gets the lease again until the next day's time: not after a restart either. Lease and mail are one
 * transaction, so that a process that is killed leaves both or none. A day without news is done as well.
 * @returns whether it was queued now
 */
export async function queueIfDue(db: Db, at: string, now: Date): Promise<boolean> {
  const due = momentOfDay(at, now)
  if (now < due) return false
  const secondsToNext = Math.ceil((due.getTime() + DAY_MS - now.getTime()) / 1000)
  const work = async (transaction: Pick<Db, 'enquiry' | 'mail' | '$executeRaw'>) => {
    if (!(await takeLease(transaction, LEASE, randomUUID(), secondsToNext))) return false
    const digest = await readDigest(transaction, now)
    if (!hasNews(digest)) return false
    await queueDigest(transaction, digestText(digest))
    return true
  }
  return db.$transaction(work, { timeout: POLL_MS })
}

/** When it is `at` on the Indian day of `now`. India keeps the same offset all year. */
function momentOfDay(at: string, now: Date): Date {
  const day = new Date(now.getTime() + INDIA_MS).toISOString().slice(0, 10)
  return new Date(`${day}T${at}:00+05:30`)
}
