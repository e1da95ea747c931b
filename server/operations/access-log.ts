import { formatCount } from '../../shared/count.ts'
import type { Db } from '../database/database.ts'
import type { Prisma } from '../database/generated/client.ts'

/** An access log line names so many enquiries; of more it has the number. */
const REFERENCES_MAX = 5

/**
 * Adds a line: who has seen or changed what. The database sets time and role. Its callers decide what a failure means.
 * @param what references, or how many rows of what; nothing about a person
 */
export async function recordAccess(
  db: Pick<Db, 'access'>,
  line: { who: string; command: string; what: string },
): Promise<void> {
  await db.access.createMany({ data: line })
}

/** The references of a few enquiries, or how many there are: what an access log line says. */
export function listReferences(rows: { reference: string }[]): string {
  const isShort = rows.length > 0 && rows.length <= REFERENCES_MAX
  return isShort ? rows.map(({ reference }) => reference).join(' ') : formatCount(rows.length, 'enquiry', 'enquiries')
}

/** The same of an export, which is not in memory. */
export async function describeChosen(db: Db, where: Prisma.Sql): Promise<string> {
  const few = await db.$queryRaw<{ reference: string }[]>`
    SELECT "Reference" AS "reference" FROM "Quvera_Form" form WHERE ${where} LIMIT ${REFERENCES_MAX + 1}`
  if (few.length <= REFERENCES_MAX) return listReferences(few)
  const [{ count }] = await db.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS "count" FROM "Quvera_Form" form WHERE ${where}`
  return formatCount(count, 'enquiry', 'enquiries')
}
