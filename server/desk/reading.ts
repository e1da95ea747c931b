import type { DeskState } from '../../shared/desk.ts'
import { parseIndianTime } from '../../shared/indian-time.ts'
import { pickOrderFields } from '../../shared/order.ts'
import type { Db } from '../database/database.ts'
import {
  ENQUIRY,
  type Enquiry,
  inOrder,
  isAfter,
  type ListOrder,
  readEnquiries,
  TODAY,
  WAITING,
} from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import { type Entry, readHistory, standingOf } from '../database/history.ts'
import { DAY_MS } from '../format.ts'
import { RequestError } from '../http/errors.ts'
import { describeEntry, isListed } from './history.ts'
import { type Choice, placeOf, readPlace } from './inputs.ts'
import { readMailsOf } from './mails.ts'
import { repliesFor } from './replies.ts'
import { matches } from './search.ts'

/* What the desk shows. In SQL, with enums as text: a value of a newer version is shown as it is. */

const PAGE = 25
/** Of enquiries from one number so many are counted, so that a flood does not slow the list. */
const COUNTED_MAX = 20
const OTHERS_MAX = 20

const ofTab: Record<DeskState, Prisma.Sql> = {
  new: WAITING,
  toRing: Prisma.sql`form."RemindOn" IS NOT NULL AND form."Status" <> 'Closed' AND NOT form."SuspectedSpam" AND form."EraseAt" IS NULL`,
  contacted: Prisma.sql`form."Status" = 'Contacted' AND NOT form."SuspectedSpam"`,
  closed: Prisma.sql`form."Status" = 'Closed' AND NOT form."SuspectedSpam"`,
  spam: Prisma.sql`form."Status" = 'New' AND form."SuspectedSpam"`,
  all: Prisma.sql`TRUE`,
}

/** The condition of the enquiries (`form`) of a tab, with its filters and a search. */
export function isChosen({ state, text = '', product, type, from, to }: Choice): Prisma.Sql {
  const conditions = [
    ofTab[state],
    ...(text.trim() ? [matches(text)] : []),
    ...(product ? [Prisma.sql`form."Products"::text = ${product}`] : []),
    ...(type ? [Prisma.sql`form."RetailerSelfUse"::text = ${type}`] : []),
    ...(from ? [Prisma.sql`form."ReceivedAt" >= ${parseIndianTime(from)}`] : []),
    ...(to ? [Prisma.sql`form."ReceivedAt" < ${new Date(parseIndianTime(to).getTime() + DAY_MS)}`] : []),
  ]
  return Prisma.join(conditions, ' AND ')
}

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
  const { status, notes, calls, ringing, proposed, isWithdrawn, isNotTheirs, last } = standingOf(entries, enquiry.now)
  const isProposed = typeof proposed === 'string' && proposed !== enquiry.mobile
  const number = earlierOfNumber + 1
  const note = notes.at(-1)?.text
  return {
    reference: enquiry.reference,
    ...pickOrderFields(enquiry),
    quantity: Number(quantity),
    receivedAt: receivedAt.toISOString(),
    status: enquiry.status,
    ...(status && { statusBy: status.who, statusAt: status.at.toISOString() }),
    ...(closedAs && { closedAs }),
    suspectedSpam: enquiry.suspectedSpam,
    ...(note && { note }),
    calls,
    ...(remindOn && { remindOn }),
    ...(eraseAt && { eraseAt: eraseAt.toISOString() }),
    ...(isProposed && { proposal: { mobile: proposed } }),
    ...(ringing && { ringing: { who: ringing.who, at: ringing.at.toISOString() } }),
    flags: [
      isProposed && 'proposes another number',
      isWithdrawn && 'withdrawn',
      isNotTheirs && 'not the address’s owner',
      undelivered[acknowledgement ?? ''],
      number > COUNTED_MAX && `more than ${COUNTED_MAX} enquiries from this number`,
      number > 1 && number <= COUNTED_MAX && `${ordinals[number] ?? `${number}th`} enquiry from this number`,
      calls > 0 && `rang ${['', 'once', 'twice'][calls] ?? `${calls} times`}`,
    ].filter((flag) => typeof flag === 'string'),
    ...(last && {
      last: { key: last.key, what: describeEntry(last, entries), who: last.who, at: last.at.toISOString() },
    }),
  }
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
  const [rows, [{ today }]] = await Promise.all([
    readRows(
      db,
      Prisma.sql`SELECT form.* FROM "Quvera_Form" form WHERE ${isChosen(choice)} AND ${comesAfter} ORDER BY ${by} LIMIT ${PAGE + 1}`,
      by,
    ),
    db.$queryRaw<[{ today: string }]>`SELECT ${TODAY}::text AS "today"`,
  ])
  const shown = rows.slice(0, PAGE)
  const last = rows.length > PAGE ? shown.at(-1)?.enquiry : undefined
  return { enquiries: shown.map(({ row }) => row), ...(last && { next: placeOf(last, isByDay) }), today }
}

export interface Pulse {
  counts: Record<DeskState, number>
  /** Of To ring: today or before. */
  due: number
  /** Of what is New: received after the newest that is shown. */
  fresh: number
  oldestNewAt?: string
  /** Received since Monday, in India, without suspected spam. */
  week: Record<string, number>
}

/** How things stand, whatever is searched for. Each tab has an index: one scan of the table would take twice as long. */
export async function readPulse(db: Db, newest: string | undefined): Promise<Pulse> {
  const count = (condition: Prisma.Sql) => Prisma.sql`(SELECT count(*)::int FROM "Quvera_Form" form WHERE ${condition})`
  const counts = Object.entries(ofTab).map(
    ([name, condition]) => Prisma.sql`${Prisma.raw(`'${name}'`)}, ${count(condition)}`,
  )
  const [facts] = await db.$queryRaw<[Omit<Pulse, 'oldestNewAt'> & { oldestNewAt: Date | null }]>`
    SELECT json_build_object(${Prisma.join(counts)}) AS "counts",
      ${count(Prisma.sql`${ofTab.toRing} AND form."RemindOn" <= ${TODAY}`)} AS "due",
      ${newest ? count(Prisma.sql`${WAITING} AND form."ReceivedAt" > ${newest}::timestamptz`) : Prisma.sql`0`} AS "fresh",
      (SELECT min(form."ReceivedAt") FROM "Quvera_Form" form WHERE ${WAITING}) AS "oldestNewAt",
      (SELECT coalesce(json_object_agg("Products", count ORDER BY "Products"), '{}') FROM (
        SELECT "Products", count(*)::int FROM "Quvera_Form" WHERE NOT "SuspectedSpam"
          AND "ReceivedAt" >= date_trunc('week', now() AT TIME ZONE 'Asia/Kolkata') AT TIME ZONE 'Asia/Kolkata'
        GROUP BY 1) AS by_product) AS "week"`
  const { oldestNewAt, ...others } = facts
  return { ...others, ...(oldestNewAt && { oldestNewAt: oldestNewAt.toISOString() }) }
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
    notes: standingOf(entries, enquiry.now).notes.map(({ key, at, who, text }) => {
      return { key, who, at: at.toISOString(), text: text ?? '' }
    }),
    earlier: others.map(({ reference, receivedAt, products, quantity, status }) => {
      return { reference, products, status, receivedAt: receivedAt.toISOString(), quantity: Number(quantity) }
    }),
    replies: repliesFor(row),
  }
}

/** The condition of enquiries (`form`) with the same number or address. An enquiry by phone may have no address. */
export function isOfSamePerson({ mobile, email }: Pick<Enquiry, 'mobile' | 'email'>): Prisma.Sql {
  return Prisma.sql`(form."Mobile" = ${mobile} OR ${email} <> '' AND lower(form."Email") = lower(${email}))`
}
