// Reads what a session has, and refuses what would make times or tables wrong.
import type { Client } from 'pg'
import { OperatorError } from '../errors.ts'
import { poolerRefusal } from './connection.ts'

const SCHEMA = 'public'

interface SessionSettings {
  /** Null if the login may use none of its search_path. */
  schema: string | null
  zone: string
  offsets: string
  statementMs: number
  fsync: string
  synchronousCommit: string
  /** Standbys that confirm a commit; empty for none. */
  standbys: string
}

/**
 * @param variable the one that holds the URL; none for the embedded database
 * @param statementMs the limit of a statement that a direct connection has asked for
 */
export async function readSession(client: Client, variable?: string, statementMs?: number): Promise<SessionSettings> {
  const { rows } = await client.query<SessionSettings>(
    `SELECT current_schema() AS "schema", current_setting('TimeZone') AS "zone", setting::int AS "statementMs",
       current_setting('fsync') AS "fsync", current_setting('synchronous_commit') AS "synchronousCommit",
       current_setting('synchronous_standby_names') AS "standbys",
       to_char(timestamptz '2026-01-01Z', 'OF') || to_char(timestamptz '2026-07-01Z', 'OF') AS "offsets"
     FROM pg_settings WHERE name = 'statement_timeout'`,
  )
  const [found] = rows
  // Prisma names the schema in its queries, and ours follow the search_path: both must mean the same tables.
  if (found?.schema && found.schema !== SCHEMA)
    throw new OperatorError(
      `The site uses the schema ${SCHEMA}, but the search_path of this login leads to ${found.schema}. Set it: ALTER ROLE … SET search_path TO ${SCHEMA}.`,
    )
  if (variable && statementMs !== undefined && found?.statementMs !== statementMs)
    throw new OperatorError(poolerRefusal(variable))
  if (found?.offsets === '+00+00') return found
  throw new OperatorError(
    `Database sessions run in the time zone ${found?.zone}, which would shift every time. Behind a pooler the role has to set it: run prisma/roles.sql and log in as quvera_app, or ALTER ROLE … SET TimeZone TO 'UTC'.`,
  )
}

export function warningsAbout(
  { fsync, synchronousCommit, standbys, statementMs }: SessionSettings,
  isPooled: boolean,
): string[] {
  const isLocal = synchronousCommit === 'local' && standbys !== ''
  const unsafe = {
    ...(fsync === 'off' && { fsync }),
    ...((synchronousCommit === 'off' || isLocal) && { synchronous_commit: synchronousCommit }),
  }
  const losing = Object.entries(unsafe).map(
    ([name, value]) =>
      `${name} is ${value} at the PostgreSQL server: confirmed orders are lost when it crashes. Set ${name} to on`,
  )
  if (!isPooled || statementMs > 0) return losing
  return [
    ...losing,
    'this login has no statement_timeout, so a statement may hold up others: run prisma/roles.sql again',
  ]
}
