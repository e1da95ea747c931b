import { hostname, userInfo } from 'node:os'
import type { Db } from '../database/database.ts'
import type { Prisma } from '../database/generated/client.ts'
import type { Env } from '../env.ts'
import { describeFailure } from '../errors.ts'
import { formatCount } from '../format.ts'
import type { Terminal } from './output.ts'

/** An access log line names so many enquiries; of more it has the number. */
const REFERENCES_MAX = 5

/**
 * Records that a command shows, exports, changes or erases people's data. Where the line cannot be written, as on a read
 * replica or a full disk, the command says so and goes on.
 * @param what the references, or how many rows of what; nothing about a person
 */
export async function writeAccessLine(
  { command, env, errors }: { command: string } & Pick<Terminal, 'env' | 'errors'>,
  db: Pick<Db, 'access'>,
  what: string | { reference: string }[],
): Promise<void> {
  const data = { who: userOf(env()), command, what: typeof what === 'string' ? what : listReferences(what) }
  await db.access.createMany({ data }).catch((error) => {
    errors.write(`This access could not be recorded in the access log (Quvera_Access): ${describeFailure(error)}\n`)
  })
}

/** Names the few enquiries of an export in the access log, and counts many. */
export async function recordAccessTo({ recordAccess }: Terminal, db: Db, where: Prisma.Sql) {
  const few = await db.$queryRaw<{ reference: string }[]>`
    SELECT "Reference" AS "reference" FROM "Quvera_Form" form WHERE ${where} LIMIT ${REFERENCES_MAX + 1}`
  if (few.length <= REFERENCES_MAX) return recordAccess(db, few)
  const [{ count }] = await db.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS "count" FROM "Quvera_Form" form WHERE ${where}`
  return recordAccess(db, formatCount(count, 'enquiry', 'enquiries'))
}

/** The references of a few enquiries, or how many there are. */
export function listReferences(rows: { reference: string }[]): string {
  const isShort = rows.length > 0 && rows.length <= REFERENCES_MAX
  return isShort ? rows.map(({ reference }) => reference).join(' ') : formatCount(rows.length, 'enquiry', 'enquiries')
}

/** STAFF_NAME or the user, and the machine. Not verified. */
export function userOf({ STAFF_NAME }: Pick<Env, 'STAFF_NAME'>): string {
  return `${STAFF_NAME ?? userName()}@${hostname()}`
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}
