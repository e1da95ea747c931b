import type { PrismaPg } from '@prisma/adapter-pg'
import type { PrismaPGlite } from 'pglite-prisma-adapter'
import { PrismaClient } from './generated/client.ts'

export type Db = PrismaClient

export interface Database {
  db: Db
  /** What there is to say of the start: the migrations applied, and those that a newer server left behind. */
  notes: string[]
  close(): Promise<void>
}

/** What is done to the database before it is used: unless asked for, nothing. */
export interface Preparation {
  /** Make an embedded database where there is none, and apply the migrations it lacks. Else it is refused for either. */
  migrate?: boolean | undefined
  /** Take it as it is, whatever it lacks. */
  anyVersion?: boolean | undefined
}

export interface DatabaseOptions extends Preparation {
  /** A PostgreSQL server; without it the embedded database in `dataDir` is opened. */
  url?: string | undefined
  /** Where migrations reach that server without a pooler between: as everything else unless given. */
  directUrl?: string | undefined
  dataDir: string
  /** Loopback port at which other programs reach the embedded database; none unless given. */
  embeddedPort?: number
  /** File from which a new embedded database is unpacked; without it one is made, which takes longer. */
  preparedFolder?: string
  /** Folder of the migrations that this version of the site needs. */
  migrations: string
  /** Reach an embedded database that another process has through that one, instead of being refused. */
  beside?: boolean
  /** How long to wait for another process that has the embedded database, and who is told so. Not at all unless given. */
  patience?: { ms: number; tell(words: string): void }
  /** How long a query may take on a server, or wait for the embedded database: as long as it takes unless given. */
  queryTimeoutMs?: number
}

export async function openClient(adapter: PrismaPg | PrismaPGlite): Promise<Db> {
  const db = new PrismaClient({ adapter, errorFormat: 'minimal' }) // one line, and no stack taken for each query
  await db.$connect() // loads the query compiler while PostgreSQL answers, and not with the first query
  return db
}
