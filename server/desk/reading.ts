import { pickOrderFields } from '../../shared/order.ts'
import type { Db } from '../database/database.ts'
import { ENQUIRY, type Enquiry, inOrder, isAfter, type ListOrder, readEnquiries, TODAY } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import { type Entry, historyFacts, readHistory } from '../database/history.ts'
import { RequestError } from '../http/errors.ts'
import { isChosen, isFiltered } from './chosen.ts'
import { describeEntry, isListed } from './history.ts'
import { type Choice, placeOf, readPlace } from './inputs.ts'
import { readMailsOf } from './mails.ts'
import { repliesFor } from './replies.ts'

/* What the desk shows. In SQL, with enums as text: a value of a newer version is shown as it is. */

const PAGE = 25
/** Of enquiries from one number so many are counted, so that a flood does not slow the list. */
const COUNTED_MAX = 20
const OTHERS_MAX = 20

interface StoredRow extends Enquiry {
  /** By the database's clock. */
  now: Date
  acknowledgement: string | null
  earlierOfNumber: number
}

/** Reads what a row of the desk shows of the enquiries of `forms`, and their history. */
async function readRows(db: Pick<Db, '$queryRaw'>, forms: Prisma.Sql, order = inOrder()) {
  const stored = await db.$queryRaw<StoredRow[]>`
    SELECT ${ENQUIRY}, now() AS "now",
      (SELECT mail."Status"::text FROM "Quvera_Mail" mail
        WHERE mail."EnquiryId" = form."Id" AND mail."Kind" = 'Acknowledgement' ORDER BY mail."Id" DESC LIMIT 1) AS "acknowledgement",
      (SELECT count(*)::int FROM (SELECT FROM "Quvera_Form" earlier WHERE earlier."Mobile" = form."Mobile"
        AND (earlier."ReceivedAt", earlier."Id") < (form."ReceivedAt", form."Id") LIMIT ${COUNTED_MAX}) AS counted) AS "earlierOfNumber"
    FROM (${forms}) form ORDER BY ${order}`
  const ids = stored.map(({ id }) => id)
  const history = await readHistory(db, ids)
  return stored.map((row) => {
    const entries = history.get(row.id) ?? []
    return { enquiry: row, entries, row: toRow(row, entries) as Row }
  })
}

const ordinals = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']
const undelivered: Record<string, string> = {
  Bounced: 'acknowledgement bounced',
  Failed: 'acknowledgement was refused',
  Complained: 'acknowledgement was marked as spam',
}

export interface Row extends ReturnType<typeof toRow> {
  /** In the answer to "Not spam": the kinds of mails that go out now. */
  releases?: ('Notice' | 'Acknowledgement')[]
}

function toRow(enquiry: StoredRow, entries: Entry[]) {
  const { acknowledgement, earlierOfNumber, receivedAt, quantity, closedAs, remindOn, eraseAt } = enquiry
  const { statusEntry, notes, calls, ringingEntry, proposalEntry, isWithdrawn, isNotTheirs, lastUndoable } =
    historyFacts(entries, enquiry.now)
  const proposed = proposalEntry?.after?.Mobile
  const isProposed = typeof proposed === 'string' && proposed !== enquiry.mobile
  const number = earlierOfNumber + 1
  const note = notes.at(-1)?.text
  return {
    reference: enquiry.reference,
    ...pickOrderFields(enquiry),
    quantity: Number(quantity),
    receivedAt: receivedAt.toISOString(),
    status: enquiry.status,
    ...(statusEntry && { statusBy: statusEntry.who, statusAt: statusEntry.at.toISOString() }),
    ...(closedAs && { closedAs }),
    suspectedSpam: enquiry.suspectedSpam,
    ...(note && { note }),
    calls,
    ...(remindOn && { remindOn }),
    ...(eraseAt && { eraseAt: eraseAt.toISOString() }),
    ...(proposalEntry && isProposed && { proposal: { mobile: proposed, key: proposalEntry.key } }),
    ...(ringingEntry && { ringing: { who: ringingEntry.who, at: ringingEntry.at.toISOString() } }),
    flags: [
      isProposed && 'proposes another number',
      isWithdrawn && 'withdrawn',
      isNotTheirs && 'not the address’s owner',
      undelivered[acknowledgement ?? ''],
      number > COUNTED_MAX && `more than ${COUNTED_MAX} enquiries from this number`,
      number > 1 && number <= COUNTED_MAX && `${ordinals[number] ?? `${number}th`} enquiry from this number`,
      calls > 0 && `rang ${['', 'once', 'twice'][calls] ?? `${calls} times`}`,
    ].filter((flag) => typeof flag === 'string'),
    ...(lastUndoable && { last: lastOf(lastUndoable, entries) }),
  }
}

function lastOf(entry: Entry, entries: Entry[]) {
  return { key: entry.key, what: describeEntry(entry, entries), who: entry.who, at: entry.at.toISOString() }
}

/** Those that are still there, in this order. */
export async function readRowsOf(db: Pick<Db, '$queryRaw'>, references: string[]): Promise<Row[]> {
  const rows = await readRows(
    db,
    Prisma.sql`SELECT form.* FROM "Quvera_Form" form WHERE form."Reference" = ANY(${references})`,
  )
  const found = new Map(rows.map(({ row }) => [row.reference, row]))
  return references.flatMap((reference) => found.get(reference) ?? [])
}

/** Adds the kinds of mails that go out now, for the message of "Not spam". */
export async function withReleases(db: Db, rows: Row[]): Promise<Row[]> {
  const kinds = ['Notice', 'Acknowledgement'] as const
  const enquiry = { reference: { in: rows.map(({ reference }) => reference) } }
  const pending = await db.mail.findMany({
    where: { status: 'Pending', kind: { in: [...kinds] }, enquiry },
    select: { kind: true, enquiry: { select: { reference: true } } },
  })
  return rows.map((row) => {
    const own = pending.filter((mail) => mail.enquiry?.reference === row.reference)
    return { ...row, releases: kinds.filter((kind) => own.some((mail) => mail.kind === kind)) }
  })
}

/** Of To ring by the day of the reminder, of the other tabs by the time of receipt. */
function orderOf({ state, order }: Choice): { by: Prisma.Sql; isByDay: boolean; direction: ListOrder | undefined } {
  const isByDay = state === 'toRing'
  const direction = isByDay ? 'oldest' : order
  return { isByDay, direction, by: isByDay ? Prisma.sql`form."RemindOn", ${inOrder(direction)}` : inOrder(direction) }
}

/** @param before the `next` of the page before this one */
export async function readList(db: Db, { before = '', ...choice }: Choice & { before?: string | undefined }) {
  const { by, isByDay, direction } = orderOf(choice)
  const place = readPlace(before)
  const isFurther = isAfter(place && { id: place.id, receivedAt: new Date(place.receivedAt) }, direction)
  const comesAfter =
    isByDay && place
      ? Prisma.sql`(form."RemindOn" > ${place.remindOn}::date OR form."RemindOn" = ${place.remindOn}::date AND ${isFurther})`
      : isFurther
  /** Else it is counted as none, and left out. */
  const isCounted = isFiltered(choice) && !choice.text?.trim() && !place
  const [rows, [{ today, total }]] = await Promise.all([
    readRows(
      db,
      Prisma.sql`SELECT form.* FROM "Quvera_Form" form WHERE ${isChosen(choice)} AND ${comesAfter} ORDER BY ${by} LIMIT ${PAGE + 1}`,
      by,
    ),
    db.$queryRaw<[{ today: string; total: number }]>`SELECT ${TODAY}::text AS "today",
      (SELECT count(*)::int FROM "Quvera_Form" form WHERE ${isCounted ? isChosen(choice) : Prisma.sql`FALSE`}) AS "total"`,
  ])
  const shown = rows.slice(0, PAGE)
  const last = rows.length > PAGE ? shown.at(-1)?.enquiry : undefined
  const next = last && placeOf(last, isByDay)
  return { enquiries: shown.map(({ row }) => row), ...(next && { next }), today, ...(isCounted && { total }) }
}

export const notFound = () => new RequestError(404, 'There is no such enquiry. Perhaps it was erased.')

export async function readEnquiry(db: Db, reference: string) {
  const isIt = Prisma.sql`SELECT form.* FROM "Quvera_Form" form WHERE form."Reference" = ${reference}`
  const [found] = await readRows(db, isIt)
  if (!found) throw notFound()
  const { enquiry, entries, row } = found
  const isOther = Prisma.sql`${isOfSamePerson(enquiry)} AND form."Id" <> ${enquiry.id}::uuid`
  const [mails, others] = await Promise.all([
    readMailsOf(db, enquiry),
    readEnquiries(db, Prisma.sql`WHERE ${isOther} ORDER BY ${inOrder()} LIMIT ${OTHERS_MAX}`),
  ])
  return {
    ...row,
    mails,
    history: entries
      .filter(isListed)
      .map((entry) => ({ at: entry.at.toISOString(), who: entry.who, what: describeEntry(entry, entries) }))
      .toReversed(),
    notes: historyFacts(entries, enquiry.now).notes.map(({ key, at, who, text }) => {
      return { key, who, at: at.toISOString(), text: text ?? '' }
    }),
    earlier: others.map(({ reference, receivedAt, name, products, quantity, status }) => {
      return { reference, name, products, status, receivedAt: receivedAt.toISOString(), quantity: Number(quantity) }
    }),
    replies: repliesFor(row),
  }
}

/** The condition of enquiries (`form`) with the same number or address. An enquiry by phone may have no address. */
export function isOfSamePerson({ mobile, email }: Pick<Enquiry, 'mobile' | 'email'>): Prisma.Sql {
  return Prisma.sql`(form."Mobile" = ${mobile} OR ${email} <> '' AND lower(form."Email") = lower(${email}))`
}
