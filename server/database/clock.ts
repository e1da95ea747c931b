import type { Db } from './database.ts'

/** The database's time: clocks of several machines differ, and all stored times are the database's. */
export async function readNow(db: Pick<Db, '$queryRaw'>): Promise<Date> {
  const [{ now }] = await db.$queryRaw<[{ now: Date }]>`SELECT now() AS "now"`
  return now
}
