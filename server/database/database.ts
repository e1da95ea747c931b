import type { PrismaPg } from '@prisma/adapter-pg'
import type { ClientBase } from 'pg'
import { PrismaClient } from './generated/client.ts'

export type Db = PrismaClient

export interface Database {
  db: Db
  /** What was done at the start: migrations applied, and those that a newer version left. */
  notes: string[]
  warnings: string[]
  /** Runs scripts on one connection, as migrations need. */
  withClient<T>(work: (client: ClientBase) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** What is done to the database before it is used: unless asked for, nothing. */
export interface Preparation {
  /** Apply the migrations that it lacks, and make an embedded database where there is none. */
  migrate?: boolean | undefined
  /** Take it as it is, whatever it lacks. */
  anyVersion?: boolean | undefined
}

export async function openClient(adapter: PrismaPg): Promise<Db> {
  const db = new PrismaClient({ adapter, errorFormat: 'minimal' }) // one line, and no stack taken for each query
  await db.$connect() // loads the query compiler while PostgreSQL answers, and not with the first query
  return db
}
