// An open database, as the other rooms see it.
import type { PrismaPg } from '@prisma/adapter-pg'
import type { ClientBase } from 'pg'
import { PrismaClient } from './generated/client.ts'

export type Db = PrismaClient

export interface Database {
  db: Db
  /** For the log: migrations that were applied, and those of a newer version. */
  notes: string[]
  warnings: string[]
  withClient<T>(work: (client: ClientBase) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** What is done before a database is used. By default it is only checked. */
export interface Preparation {
  /** Apply the migrations that it lacks, and create an embedded database where there is none. */
  migrate?: boolean | undefined
  /** Do not check its migrations. */
  anyVersion?: boolean | undefined
}

export async function openClient(adapter: PrismaPg): Promise<Db> {
  const db = new PrismaClient({ adapter, errorFormat: 'minimal' }) // one line, and no stack taken for each query
  await db.$connect() // loads the query compiler now, and not with the first query
  return db
}
