import type { Db } from '../database/database.ts'

export interface OldestNew {
  reference: string
  seconds: number
  /** How many enquiries are New. */
  count: number
}

/** The enquiry that has waited longest for somebody to set its status; undefined when none waits. */
export async function readOldestNew(db: Db, now = new Date()): Promise<OldestNew | undefined> {
  const where = { status: 'New' as const }
  const oldest = await db.enquiry.findFirst({ where, orderBy: { receivedAt: 'asc' } })
  if (!oldest) return undefined
  const seconds = Math.max(0, Math.round((now.getTime() - oldest.receivedAt.getTime()) / 1000))
  return { reference: oldest.reference, seconds, count: await db.enquiry.count({ where }) }
}

export interface Hour {
  /** `17:00`, by the clock in India. */
  begins: string
  enquiries: number
}

/** How many enquiries came in each of 24 hours, the one that runs being the last. */
export function readHours(db: Db): Promise<Hour[]> {
  return db.$queryRaw`
    WITH clock AS (SELECT date_trunc('hour', now() AT TIME ZONE 'Asia/Kolkata') AS "hour")
    SELECT to_char(hours, 'HH24:MI') AS "begins", count(form."Id")::int AS "enquiries"
    FROM clock, generate_series("hour" - interval '23 hours', "hour", interval '1 hour') hours
    LEFT JOIN "Quvera_Form" form ON form."ReceivedAt" >= hours AT TIME ZONE 'Asia/Kolkata'
      AND form."ReceivedAt" < (hours + interval '1 hour') AT TIME ZONE 'Asia/Kolkata'
    GROUP BY hours ORDER BY hours`
}
