// A lease is held by one process at a time. Only its holder does a certain task, such as sending mails.
import type { Db } from './database.ts'
import { Prisma } from './generated/client.ts'

/** A lease of 15 s that ends more than 15 + 60 s from now was taken before the clock was set back. */
const CLOCK_SET_BACK_MAX_SECONDS = 60

/** The condition that a row `lease` of so many seconds is over: it has run out, or ends later than it can. */
function isOver(seconds: number) {
  return Prisma.sql`(lease."Until" <= now()
    OR lease."Until" > clock_timestamp() + make_interval(secs => ${seconds + CLOCK_SET_BACK_MAX_SECONDS}))`
}

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
    WHERE lease."Holder" = excluded."Holder" OR ${isOver(seconds)}`
  return taken === 1
}

/** Whether anybody has the lease `name`, which is one of so many seconds. */
export async function isLeased(db: Pick<Db, '$queryRaw'>, name: string, seconds: number): Promise<boolean> {
  const held = await db.$queryRaw<unknown[]>`
    SELECT FROM "Quvera_Lease" lease WHERE "Name" = ${name} AND NOT ${isOver(seconds)}`
  return held.length > 0
}

export async function releaseLease(db: Db, name: string, holder: string): Promise<void> {
  await db.lease.updateMany({ where: { name, holder }, data: { until: new Date(0) } })
}
