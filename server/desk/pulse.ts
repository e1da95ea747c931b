import type { DeskState } from '../../shared/desk.ts'
import type { Db } from '../database/database.ts'
import { TODAY, WAITING } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import { ofTab } from './chosen.ts'
import { TO_BE_ERASED } from './search.ts'

export interface Pulse {
  counts: Record<DeskState, number>
  /** Of To ring: today or before. */
  due: number
  /** Somebody has asked for it: a day later they are gone. */
  toErase: number
  /** Of what is New: received after the newest that is shown. */
  fresh: number
  oldestNewAt?: string
  /** Received since Monday, in India, without suspected spam. */
  week: Record<string, number>
}

/**
 * How things stand, whatever is searched for. Each tab but All has an index, and they share out the table: All is their sum, as
 * one scan of the table would take as long as all of them.
 */
export async function readPulse(db: Db, newest: string | undefined): Promise<Pulse> {
  const count = (condition: Prisma.Sql) => Prisma.sql`(SELECT count(*)::int FROM "Quvera_Form" form WHERE ${condition})`
  const { all: _, ...tabs } = ofTab
  const counts = Object.entries(tabs).map(
    ([name, condition]) => Prisma.sql`${Prisma.raw(`'${name}'`)}, ${count(condition)}`,
  )
  const [facts] = await db.$queryRaw<
    [Omit<Pulse, 'oldestNewAt'> & { allNew: number; allSpam: number; oldestNewAt: Date | null }]
  >`
    SELECT json_build_object(${Prisma.join(counts)}) AS "counts",
      ${count(Prisma.sql`form."Status" = 'New' AND NOT form."SuspectedSpam"`)} AS "allNew",
      ${count(Prisma.sql`form."SuspectedSpam"`)} AS "allSpam",
      ${count(Prisma.sql`${ofTab.toRing} AND form."RemindOn" <= ${TODAY}`)} AS "due",
      ${count(TO_BE_ERASED)} AS "toErase",
      ${newest ? count(Prisma.sql`${WAITING} AND form."ReceivedAt" > ${newest}::timestamptz`) : Prisma.sql`0`} AS "fresh",
      (SELECT min(form."ReceivedAt") FROM "Quvera_Form" form WHERE ${WAITING}) AS "oldestNewAt",
      (SELECT coalesce(json_object_agg("Products", count ORDER BY "Products"), '{}') FROM (
        SELECT "Products", count(*)::int FROM "Quvera_Form" WHERE NOT "SuspectedSpam"
          AND "ReceivedAt" >= date_trunc('week', now() AT TIME ZONE 'Asia/Kolkata') AT TIME ZONE 'Asia/Kolkata'
        GROUP BY 1) AS by_product) AS "week"`
  const { counts: ofTabs, allNew, allSpam, oldestNewAt, ...others } = facts
  const all = allNew + ofTabs.contacted + ofTabs.closed + allSpam
  return { ...others, counts: { ...ofTabs, all }, ...(oldestNewAt && { oldestNewAt: oldestNewAt.toISOString() }) }
}
