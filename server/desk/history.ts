import { formatIndianTime } from '../../shared/indian-time.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'

/* Quvera_History in words. A trigger writes it: who changed which column of an enquiry, and when. */

interface Change {
  at: Date
  who: string
  column: string
  before: string | null
  after: string | null
}

const changesOf = (id: string) => Prisma.sql`
  SELECT "At" AS "at", coalesce("Who", "Role") AS "who", "Column" AS "column", "Before" AS "before", "After" AS "after"
  FROM "Quvera_History" WHERE "EnquiryId" = ${id}::uuid`

/** What is shown of the changes of an enquiry, the newest first. */
export async function readHistory(db: Db, id: string) {
  const changes = await db.$queryRaw<Change[]>`${changesOf(id)} ORDER BY "Id" DESC`
  // A call adds its line to the note by the same statement.
  const isOfCall = ({ at, column }: Change) =>
    column === 'Note' && changes.some((other) => other.column === 'Calls' && other.at.getTime() === at.getTime())
  // A removal empties itself and the notes before it: only the newest is known to be one.
  const removal = changes.find(isEmptied)
  return changes
    .filter((change) => !isOfCall(change))
    .map((change) => ({
      at: change.at.toISOString(),
      who: change.who,
      what: isEmptied(change) && change !== removal ? 'a note that was removed' : describeChange(change),
    }))
}

/** `ravi@shop.example, 26 Nov 2026 10:40: set to Contacted (was New)`; undefined if the column was never changed. */
export async function describeLastChange(
  db: Pick<Db, '$queryRaw'>,
  id: string,
  column: string,
): Promise<string | undefined> {
  const [last] = await db.$queryRaw<Change[]>`${changesOf(id)} AND "Column" = ${column} ORDER BY "Id" DESC LIMIT 1`
  return last && `${last.who}, ${formatIndianTime(last.at)}: ${describeChange(last)}`
}

const isEmptied = ({ column, before, after }: Change) => column === 'Note' && before === null && after === null

function describeChange({ column, before, after }: Change): string {
  if (column === 'Status') return `set to ${after} (was ${before})`
  if (column === 'SuspectedSpam') return after === 'true' ? 'marked as spam' : 'marked as not spam'
  if (column === 'Calls') return 'rang, no answer'
  if (column !== 'Note') return `${column}: ${before ?? '-'} → ${after ?? '-'}`
  if (!after) return 'removed all notes' // the trigger empties its texts
  return `note: ${before && after.startsWith(before) ? after.slice(before.length).trim() : after}`
}
