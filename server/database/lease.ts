// A lease is held by one process at a time. Only its holder does a certain task, such as sending mails.
import type { Db } from './database.ts'

/** A lease that ends later than its full length and this from now was taken before the clock was set back: it has run out. */
const CLOCK_SET_BACK_MAX_SECONDS = 60

/**
 * Takes or renews the lease `name` for `seconds`, by the database's clock. It is taken from another holder once it has run out,
 * or was taken before the clock was set back.
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
