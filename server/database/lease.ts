// A lease is a task that one process at a time may do, or one process a day.
import type { Db } from './database.ts'

/** How far the database's clock may be set back without a lease being lost. */
const CLOCK_SET_BACK_MAX_SECONDS = 60

/**
 * Takes or renews the lease `name` for `seconds`, by the database's clock. A lease that ends later than that was taken
 * before the clock was set back, and is ignored.
 * @returns whether `holder` has the lease
 */
export async function takeLease(
  db: Pick<Db, '$executeRaw'>,
  name: string,
  holder: string,
  seconds: number,
): Promise<boolean> {
  const taken = await db.$executeRaw`
    INSERT INTO "Quvera_Lease" AS lease ("Name", "Holder", "Until")
    VALUES (${name}, ${holder}, now() + make_interval(secs => ${seconds}))
    ON CONFLICT ("Name") DO UPDATE SET "Holder" = excluded."Holder", "Until" = excluded."Until"
    WHERE lease."Holder" = excluded."Holder" OR lease."Until" <= now()
      OR lease."Until" > clock_timestamp() + make_interval(secs => ${seconds + CLOCK_SET_BACK_MAX_SECONDS})`
  return taken === 1
}

export async function releaseLease(db: Db, name: string, holder: string): Promise<void> {
  await db.lease.updateMany({ where: { name, holder }, data: { until: new Date(0) } })
}
