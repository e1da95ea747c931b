import type { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client.ts'

export type Db = PrismaClient

/** One database session: every call must reach the same connection. */
export interface Session {
  query<T>(sql: string): Promise<{ rows: T[] }>
  /** Sends the whole script as one message, which PostgreSQL runs as one transaction. */
  exec(script: string): Promise<unknown>
}

export interface Database {
  db: Db
  /** What was done at the start: migrations applied, and those that a newer version left. */
  notes: string[]
  warnings: string[]
  /** Whether all connections share one session, so that everything waits while one is in a transaction. */
  hasOneSession: boolean
  /** Runs scripts on one connection, as migrations need. */
  withSession<T>(work: (session: Session) => Promise<T>): Promise<T>
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
