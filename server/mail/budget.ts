import type { Db } from '../database/database.ts'

const DAY_MS = 86_400_000
/** In the second half of the notices' share the pause between them doubles so many times. */
const DOUBLINGS = 12

/** What may be sent now of a day's mails. */
export interface Allowance {
  /** Notices to staff: so many one by one, or a single mail for all that are due, or none for `pauseMs`. */
  notices: number
  bundled: boolean
  pauseMs: number
  acknowledgements: number
}

const UNLIMITED: Allowance = {
  notices: Number.POSITIVE_INFINITY,
  bundled: false,
  pauseMs: 0,
  acknowledgements: Number.POSITIVE_INFINITY,
}

interface Used {
  notices: number
  acknowledgements: number
  /** Since the last notice was sent. */
  quietMs: number
}

/** @param budget mails in 24 hours, all processes together; 0 for no limit */
export async function readAllowance(db: Db, budget: number): Promise<Allowance> {
  if (budget === 0) return UNLIMITED
  return allowanceOf(budget, await readUsed(db))
}

/**
 * Acknowledgements have a third of the budget, notices the rest: the first half of that one by one. In the second half
 * several enquiries share a mail, with pauses that grow so that the rest lasts a day, however many enquiries come.
 */
export function allowanceOf(budget: number, used: Used): Allowance {
  const acknowledgementShare = Math.floor(budget / 3)
  const share = budget - acknowledgementShare
  const half = Math.ceil(share / 2)
  const acknowledgements = Math.max(0, acknowledgementShare - used.acknowledgements)
  if (used.notices < half) return { notices: half - used.notices, bundled: false, pauseMs: 0, acknowledgements }
  if (used.notices >= share) return { notices: 0, bundled: true, pauseMs: DAY_MS, acknowledgements }
  const growth = 2 ** (DOUBLINGS / (share - half))
  const firstPauseMs = (DAY_MS * (growth - 1)) / (2 ** DOUBLINGS - 1) // all pauses together are a day
  const pauseMs = firstPauseMs * growth ** (used.notices - half) - used.quietMs
  return pauseMs > 0
    ? { notices: 0, bundled: true, pauseMs, acknowledgements }
    : { notices: 1, bundled: true, pauseMs: 0, acknowledgements }
}

/** What was sent in the last 24 hours, and what may have been: a try without a clear answer counts. */
async function readUsed(db: Db): Promise<Used> {
  const [row] = await db.$queryRaw<Used[]>`
    SELECT count(*) FILTER (WHERE "Kind" <> 'Acknowledgement')::int AS "notices",
      count(*) FILTER (WHERE "Kind" = 'Acknowledgement')::int AS "acknowledgements",
      coalesce(extract(epoch FROM now() - max(coalesce("SentAt", "AmbiguousAt"))
        FILTER (WHERE "Kind" <> 'Acknowledgement')) * 1000, ${DAY_MS})::float AS "quietMs"
    FROM "Quvera_Mail"
    WHERE "BundledInto" IS NULL
      AND ("SentAt" > now() - interval '24 hours'
        OR ("SentAt" IS NULL AND "Status" IN ('Pending', 'Unknown') AND "AmbiguousAt" > now() - interval '24 hours'))`
  if (!row) throw new Error('An aggregate without GROUP BY returned no row')
  return row
}
