import type { Db } from './database.ts'
import { columnsOf, type Enquiry } from './enquiry.ts'
import { Prisma } from './generated/client.ts'

/*
 * The history of an enquiry: what people did with it, in rows that are only added. What staff and visitors do that has columns
 * in Quvera_Form (status, spam mark, reminder, reason) is changed by the statement that adds the row. The form's fields and EraseAt are
 * changed by functions of the tables' owner, which add the row themselves.
 */

/** Columns of Quvera_Form and their values, as JSON has them. */
export type ColumnValues = Record<string, string | number | boolean | null>

export interface Entry {
  /** Of the change: one of several enquiries has the same. */
  key: string
  at: Date
  /** The address of staff, or the database's role; or `the visitor`. */
  who: string
  byVisitor: boolean
  /** Of staff: the changes of server/desk/changes.ts name theirs. */
  what: string
  before: ColumnValues | null
  after: ColumnValues | null
  text: string | null
  /** The key of the entry that it takes back, or puts back. */
  takesBack: string | null
  /** The last that was said of it is that it is taken back. */
  isTakenBack: boolean
}

export const TAKEN_BACK = 'Taken back'
const PUT_BACK = 'Put back'
/** Of visitors. */
export const PROPOSAL = 'Proposal'
export const WITHDRAWN = 'Withdrawn'
export const NOT_MINE = 'Not mine'

/** By enquiry, the oldest first. */
export async function readHistory(db: Pick<Db, '$queryRaw'>, ids: string[]): Promise<Map<string, Entry[]>> {
  const rows = await db.$queryRaw<(Entry & { enquiryId: string })[]>`
    SELECT "EnquiryId"::text AS "enquiryId", "Key"::text AS "key", "At" AS "at",
      CASE WHEN "ByVisitor" THEN 'the visitor' ELSE coalesce("Who", "Role") END AS "who",
      "ByVisitor" AS "byVisitor", "What" AS "what", "Before" AS "before", "After" AS "after", "Text" AS "text",
      "TakesBack"::text AS "takesBack"
    FROM "Quvera_History" WHERE "EnquiryId" = ANY(${ids}::uuid[]) ORDER BY "Id"`
  const history = new Map<string, Entry[]>(ids.map((id) => [id, []]))
  for (const { enquiryId, ...entry } of rows) {
    const entries = history.get(enquiryId)
    const original = entries?.find(({ key }) => key === entry.takesBack)
    if (original) original.isTakenBack = entry.what === TAKEN_BACK
    entries?.push({ ...entry, isTakenBack: false })
  }
  return history
}

export interface Author {
  /** Null: the visitor. */
  who: string | null
  key: string
}

/** Keys are shown to all of staff: one that another author has used names that change. */
export async function isKeyOfAnother(
  db: Pick<Db, 'historyEntry'>,
  { who, key }: Author & { who: string },
): Promise<boolean> {
  const isOther = [{ who: null }, { who: { not: who } }]
  return (await db.historyEntry.count({ where: { key, OR: isOther } })) > 0
}

export interface NewEntry {
  what: string
  /** Columns that the site's role may change, those of COLUMNS: others are not set. */
  set?: ColumnValues
  /** Emptied a day after the entry is taken back. */
  text?: string
  takesBack?: string
}

const COLUMNS = ['Status', 'SuspectedSpam', 'RemindOn', 'ClosedAs']
const SET = Prisma.raw(COLUMNS.map((column) => `"${column}" = now."${column}"`).join(', '))

/** Changes the enquiry and adds the row of its history, by one statement. */
export async function addEntry(
  db: Pick<Db, '$executeRaw'>,
  id: string,
  { who, key }: Author,
  { what, set, text, takesBack }: NewEntry,
): Promise<void> {
  const after = set ? JSON.stringify(set) : null
  const change = Prisma.sql`
    UPDATE "Quvera_Form" form SET ${SET}
    FROM "Quvera_Form" former CROSS JOIN LATERAL jsonb_populate_record(former, ${after}::jsonb) now
    WHERE form."Id" = ${id}::uuid AND former."Id" = form."Id" RETURNING form."Id", to_jsonb(former) AS former`
  const none = Prisma.sql`SELECT ${id}::uuid AS "Id", NULL::jsonb AS former`
  await db.$executeRaw`
    WITH changed AS (${set ? change : none})
    INSERT INTO "Quvera_History" ("EnquiryId", "Who", "ByVisitor", "Key", "What", "Text", "TakesBack", "Before", "After")
    SELECT "Id", ${who}, ${who === null}, ${key}::uuid, ${what}, ${text ?? null}, ${takesBack ?? null}::uuid,
      (SELECT jsonb_object_agg(field, former -> field) FROM jsonb_object_keys(${after}::jsonb) field), ${after}::jsonb
    FROM changed`
}

/** Changes fields of the form. @param fields columns and their values */
export async function correct(
  db: Pick<Db, '$executeRaw'>,
  id: string,
  { who, key }: Author,
  fields: ColumnValues,
  { what = 'Correction', takesBack }: Partial<NewEntry> = {},
): Promise<void> {
  await db.$executeRaw`
    SELECT "Quvera_correct"(${id}::uuid, ${JSON.stringify(fields)}::jsonb, ${who}, ${key}::uuid, ${what}, ${takesBack ?? null}::uuid)`
}

/** Asks for an enquiry to be erased a day later, or keeps it. */
export async function setErasure(
  db: Pick<Db, '$executeRaw'>,
  id: string,
  { who, key }: Author,
  isAsked: boolean,
  { what = isAsked ? 'Erasure' : 'Kept', takesBack }: Partial<NewEntry> = {},
): Promise<void> {
  await db.$executeRaw`
    SELECT "Quvera_set_erasure"(${id}::uuid, ${isAsked}, ${who}, ${key}::uuid, ${what}, ${takesBack ?? null}::uuid)`
}

/** What columns have now, to be held against an entry, or against what somebody saw. */
export function presentOf({ status, suspectedSpam, closedAs, remindOn, ...enquiry }: Enquiry): ColumnValues {
  return {
    ...{ Status: status, SuspectedSpam: suspectedSpam, ClosedAs: closedAs, RemindOn: remindOn },
    ...columnsOf(enquiry),
    Quantity: Number(enquiry.quantity),
  }
}

/**
 * Takes an entry back, or puts back what was taken back. Where a reminder was changed since, it stays as it is; no other column may
 * have changed.
 * @param entries of the enquiry
 * @returns the name of a column that was changed since: then nothing is done
 */
export async function takeBack(
  db: Pick<Db, '$executeRaw'>,
  enquiry: Enquiry,
  author: Author,
  { key: takesBack, before, after, isTakenBack }: Entry,
  entries: Entry[],
): Promise<string | undefined> {
  const what = isTakenBack ? PUT_BACK : TAKEN_BACK
  const [from, to] = isTakenBack ? [before, after] : [after, before]
  const present = presentOf(enquiry)
  const columns = Object.keys(to ?? {})
  if (columns.includes('EraseAt')) {
    const last = entries.findLast((entry) => 'EraseAt' in (entry.after ?? {}))
    if (![last?.key, last?.takesBack].includes(takesBack)) return 'EraseAt' // somebody has kept it since, or asked again
    const isAsked = to?.EraseAt !== null
    await setErasure(db, enquiry.id, author, isAsked, { what, takesBack })
    return undefined
  }
  const changed = columns.filter((column) => from?.[column] !== present[column])
  const overwritten = changed.find((column) => column !== 'RemindOn')
  if (overwritten) return overwritten
  const set = Object.fromEntries(
    columns.flatMap((name) => (changed.includes(name) ? [] : [[name, to?.[name] ?? null]])),
  )
  if (columns.some((column) => !COLUMNS.includes(column)))
    await correct(db, enquiry.id, author, set, { what, takesBack })
  else await addEntry(db, enquiry.id, author, { what, takesBack, ...(Object.keys(set).length > 0 && { set }) })
  return undefined
}

/** For so long after Call others read that somebody is ringing. */
const RINGING_MS = 600_000
/** Not listed in the history. */
export const RINGING = 'Ringing'
/** By an erasure: whoever keeps the enquiry does not subscribe them again. */
export const UNSUBSCRIBED = 'Unsubscribed'
const CANNOT_BE_TAKEN_BACK = [RINGING, PROPOSAL, UNSUBSCRIBED, 'By phone', 'Sent again']

export function mayBeTakenBack({ what, byVisitor, before, after, text }: Entry): boolean {
  const [had, has] = [before, after].map((columns) => columns && Object.keys(columns).length)
  // By retention: what was before goes, and what a later entry has changed.
  const isEmptied = (what === 'Note' && text === null) || has === 0 || (had ?? 0) < (has ?? 0)
  return !byVisitor && !isEmptied && !CANNOT_BE_TAKEN_BACK.includes(what)
}

/** How an enquiry stands by its history: entries, and what follows from them. */
export function historyFacts(entries: Entry[], now: Date) {
  const effective = entries.filter((entry) => !entry.isTakenBack)
  const isRecent = ({ at }: Entry) => Math.abs(now.getTime() - at.getTime()) < RINGING_MS
  /** Whoever has said what came of it rings no more. */
  const hasOutcome = ({ who }: Entry, index: number) =>
    effective.slice(index + 1).some((entry) => entry.who === who && ['Call', 'Status'].includes(entry.what))
  const ringingEntry = effective.findLast(
    (entry, index) => entry.what === RINGING && isRecent(entry) && !hasOutcome(entry, index),
  )
  return {
    statusEntry: effective.findLast(({ after, takesBack }) => !takesBack && 'Status' in (after ?? {})),
    notes: effective.filter(({ what, text }) => what === 'Note' && text !== null),
    calls: effective.filter(({ what }) => what === 'Call').length,
    ringingEntry,
    /** By the visitor. */
    isWithdrawn: entries.findLast(({ after }) => 'Status' in (after ?? {}))?.what === WITHDRAWN,
    /** As the owner of its address says: no mail goes there, until the address is changed. */
    isNotTheirs:
      effective.findLast(({ what, after, takesBack }) => what === NOT_MINE || (!takesBack && 'Email' in (after ?? {})))
        ?.what === NOT_MINE,
    proposalEntry: effective.findLast(({ what }) => what === PROPOSAL),
    /** The last that may be taken back. */
    lastUndoable: entries.findLast(mayBeTakenBack),
  }
}
