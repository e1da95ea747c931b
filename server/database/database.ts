import type { ClientBase } from 'pg'
import type { PrismaClient } from './generated/client.ts'

export type Db = PrismaClient

export interface Database {
  db: Db
  /** For the log: migrations that were applied, and those of a newer version. */
  notes: string[]
  warnings: string[]
  /** Opens a connection of its own, without time limits. */
  withClient<T>(work: (client: ClientBase) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface Preparation {
  /** Make an embedded database if there is none. By default it must exist. */
  create?: boolean | undefined
  /** Apply the migrations that it lacks. By default none may be lacking. */
  migrate?: boolean | undefined
  /** Without `migrate`: do not check its migrations. */
  anyVersion?: boolean | undefined
}

/** A suspended database wakes up in seconds. ReadCommitted: a query after the lock must see what was committed meanwhile. */
export const TRANSACTION = { maxWait: 7000, timeout: 7000, isolationLevel: 'ReadCommitted' } as const

/** The time by the database's clock, which also sets the times in the rows. The clocks of several machines differ. */
export async function readNow(db: Pick<Db, '$queryRaw'>): Promise<Date> {
  const [{ now }] = await db.$queryRaw<[{ now: Date }]>`SELECT now() AS "now"`
  return now
}
