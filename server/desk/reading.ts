import type { DeskState } from '../../shared/desk.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { matches } from '../enquiries/search.ts'
import { MAY_SEND_AGAIN } from '../mail/queue.ts'
import { states as mailStates, names, withheldReasons } from '../mail/states.ts'
import { readHistory } from './history.ts'
import { DeskRefusal } from './refusal.ts'

/* What the desk shows. In SQL, with enums as text: a value of a newer version is shown as it is. */

const PAGE = 25
const DAYS = 30
/** Of enquiries from one number so many are counted, so that a flood does not slow the list. */
const COUNTED_MAX = 20
const EARLIER_MAX = 20

export interface Choice {
  state: DeskState
  order?: 'newest' | 'oldest' | undefined
  text?: string | undefined
}

const states: Record<DeskState, Prisma.Sql> = {
  new: Prisma.sql`form."Status" = 'New' AND NOT form."SuspectedSpam"`,
  contacted: Prisma.sql`form."Status" = 'Contacted' AND NOT form."SuspectedSpam"`,
  closed: Prisma.sql`form."Status" = 'Closed' AND NOT form."SuspectedSpam"`,
  spam: Prisma.sql`form."SuspectedSpam"`,
  all: Prisma.sql`TRUE`,
}

/** "bounced", as the flag says: then the search lists those whom the acknowledgement did not reach. */
const isAboutBounces = (text: string) => /^(acknowledgement )?bounced$/i.test(text.trim())
const hasBounced = Prisma.sql`form."Id" IN (SELECT "EnquiryId" FROM "Quvera_Mail"
  WHERE "Kind" = 'Acknowledgement' AND "Status" = 'Bounced')`

/** The condition of the enquiries (`form`) of a tab and a search. */
export function chosen({ state, text = '' }: Choice): Prisma.Sql {
  if (!text.trim()) return states[state]
  const found = isAboutBounces(text) ? Prisma.sql`(${matches(text)} OR ${hasBounced})` : matches(text)
  return Prisma.sql`${states[state]} AND ${found}`
}

interface StoredRow {
  id: string
  reference: string
  name: string
  email: string
  mobile: string
  quantity: bigint
  products: string
  retailerSelfUse: string
  receivedAt: Date
  status: string
  statusBy: string | null
  statusAt: Date | null
  suspectedSpam: boolean
  note: string | null
  calls: number
  acknowledgement: string | null
  earlierOfNumber: number
}

/** Reads what a row of the desk shows of the enquiries of `forms`. */
function readRows(db: Db, forms: Prisma.Sql, direction = Prisma.raw('DESC')): Promise<StoredRow[]> {
  return db.$queryRaw`
    SELECT form."Id"::text AS "id", form."Reference" AS "reference", form."Name" AS "name", form."Email" AS "email",
      form."Mobile" AS "mobile", form."Quantity" AS "quantity", form."Products"::text AS "products",
      form."RetailerSelfUse"::text AS "retailerSelfUse", form."ReceivedAt" AS "receivedAt", form."Status"::text AS "status",
      changed."By" AS "statusBy", changed."At" AS "statusAt", form."SuspectedSpam" AS "suspectedSpam", form."Note" AS "note",
      form."Calls" AS "calls",
      (SELECT mail."Status"::text FROM "Quvera_Mail" mail
        WHERE mail."EnquiryId" = form."Id" AND mail."Kind" = 'Acknowledgement') AS "acknowledgement",
      (SELECT count(*)::int FROM (SELECT FROM "Quvera_Form" earlier WHERE earlier."Mobile" = form."Mobile"
        AND (earlier."ReceivedAt", earlier."Id") < (form."ReceivedAt", form."Id") LIMIT ${COUNTED_MAX}) AS counted) AS "earlierOfNumber"
    FROM (${forms}) form
    LEFT JOIN LATERAL (SELECT coalesce("Who", "Role") AS "By", "At" FROM "Quvera_History"
      WHERE "EnquiryId" = form."Id" AND "Column" = 'Status' ORDER BY "Id" DESC LIMIT 1) changed ON TRUE
    ORDER BY form."ReceivedAt" ${direction}, form."Id" ${direction}`
}

const ordinals = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']
const undelivered: Record<string, string> = {
  Bounced: 'acknowledgement bounced',
  Failed: 'acknowledgement was refused',
  Complained: 'acknowledgement was marked as spam',
}

function toRow({ id: _, acknowledgement, earlierOfNumber, statusBy, statusAt, note, ...row }: StoredRow) {
  const number = earlierOfNumber + 1
  const rang = ['', 'once', 'twice'][row.calls] ?? `${row.calls} times`
  return {
    ...row,
    quantity: Number(row.quantity),
    receivedAt: row.receivedAt.toISOString(),
    ...(statusBy && statusAt && { statusBy, statusAt: statusAt.toISOString() }),
    ...(note && { note }),
    flags: [
      undelivered[acknowledgement ?? ''],
      number > COUNTED_MAX && `more than ${COUNTED_MAX} enquiries from this number`,
      number > 1 && number <= COUNTED_MAX && `${ordinals[number] ?? `${number}th`} enquiry from this number`,
      row.calls > 0 && `rang ${rang}`,
    ].filter((flag) => typeof flag === 'string'),
  }
}

export async function readList(db: Db, { before, ...choice }: Choice & { before?: string | undefined }) {
  const isOldest = choice.order === 'oldest'
  const direction = Prisma.raw(isOldest ? 'ASC' : 'DESC')
  const [rows, counts, days] = await Promise.all([
    readRows(
      db,
      Prisma.sql`SELECT form.* FROM "Quvera_Form" form WHERE ${chosen(choice)} AND ${beyond(before, isOldest)}
        ORDER BY form."ReceivedAt" ${direction}, form."Id" ${direction} LIMIT ${PAGE + 1}`,
      direction,
    ),
    readCounts(db),
    readDays(db),
  ])
  const shown = rows.slice(0, PAGE)
  const last = rows.length > PAGE ? shown.at(-1) : undefined
  return {
    enquiries: shown.map(toRow),
    ...(last && { next: `${last.receivedAt.toISOString()} ${last.id}` }),
    counts,
    days,
  }
}

/** The rows that come after those of the page before. `next` holds the last one's time and id. */
function beyond(before: string | undefined, isOldest: boolean): Prisma.Sql {
  if (before === undefined) return Prisma.sql`TRUE`
  const [, at, id] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(before) ?? []
  // Date reads the 31st of a short month as the 1st of the next one; PostgreSQL has no year 0.
  const time = new Date(at ?? '')
  if (!at || Number.isNaN(time.getTime()) || time.toISOString() !== at || at < '0001')
    throw new DeskRefusal('invalid', 'The list cannot go on from there: load it anew.')
  const operator = Prisma.raw(isOldest ? '>' : '<')
  return Prisma.sql`(form."ReceivedAt", form."Id") ${operator} (${at}::timestamptz, ${id}::uuid)`
}

/** A count for each tab: each has an index of its own, and one scan of the table would take twice as long. */
async function readCounts(db: Db): Promise<Record<DeskState, number>> {
  const counts = Object.entries(states).map(
    ([name, condition]) =>
      Prisma.sql`(SELECT count(*)::int FROM "Quvera_Form" form WHERE ${condition}) AS ${Prisma.raw(`"${name}"`)}`,
  )
  const [read] = await db.$queryRaw<[Record<DeskState, number>]>`SELECT ${Prisma.join(counts)}`
  return read
}

/** Enquiries of each of the last Indian days, today included, without suspected spam. */
function readDays(db: Db): Promise<{ day: string; count: number }[]> {
  return db.$queryRaw`
    SELECT to_char(day, 'YYYY-MM-DD') AS "day", coalesce(count, 0)::int AS "count"
    FROM (SELECT (now() AT TIME ZONE 'Asia/Kolkata')::date - n AS day FROM generate_series(0, ${DAYS - 1}::int) n) days
    LEFT JOIN (
      SELECT ("ReceivedAt" AT TIME ZONE 'Asia/Kolkata')::date AS day, count(*) FROM "Quvera_Form"
      WHERE NOT "SuspectedSpam" AND "ReceivedAt" > now() - make_interval(days => ${DAYS}::int)
      GROUP BY 1
    ) counted USING (day) ORDER BY day`
}

export const notFound = () => new DeskRefusal('missing', 'There is no such enquiry. Perhaps it was erased.')

export async function readEnquiry(db: Db, reference: string) {
  const [row] = await readRows(
    db,
    Prisma.sql`SELECT form.* FROM "Quvera_Form" form WHERE form."Reference" = ${reference}`,
  )
  if (!row) throw notFound()
  const [mails, history, earlier] = await Promise.all([
    readMails(db, row.id),
    readHistory(db, row.id),
    db.$queryRaw<{ reference: string; receivedAt: Date; products: string; quantity: bigint; status: string }[]>`
      SELECT "Reference" AS "reference", "ReceivedAt" AS "receivedAt", "Products"::text AS "products", "Quantity" AS "quantity",
        "Status"::text AS "status" FROM "Quvera_Form"
      WHERE ("Mobile" = ${row.mobile} OR lower("Email") = lower(${row.email}))
        AND ("ReceivedAt", "Id") < (${row.receivedAt}, ${row.id}::uuid)
      ORDER BY "ReceivedAt" DESC LIMIT ${EARLIER_MAX}`,
  ])
  return {
    ...toRow(row),
    mails,
    history,
    earlier: earlier.map((each) => ({
      ...each,
      receivedAt: each.receivedAt.toISOString(),
      quantity: Number(each.quantity),
    })),
  }
}

interface StoredMail {
  id: string
  kind: string
  to: string | null
  status: string
  at: Date
  because: string | null
  lastError: string | null
  maySendAgain: boolean
}

/** The tables of mail/states.ts, in which a value of a newer version is missing. */
const kindNames: Partial<Record<string, { one: string }>> = names
const meanings: Partial<Record<string, { means: string }>> = mailStates
const reasons: Partial<Record<string, string>> = withheldReasons

async function readMails(db: Db, id: string) {
  const mails = await db.$queryRaw<StoredMail[]>`
    SELECT mail."Id"::text AS "id", mail."Kind"::text AS "kind", mail."To" AS "to", mail."Status"::text AS "status",
      coalesce(mail."SentAt", mail."FirstTriedAt", mail."QueuedAt") AS "at", mail."WithheldBecause"::text AS "because",
      mail."LastError" AS "lastError", (${MAY_SEND_AGAIN}) IS TRUE AS "maySendAgain"
    FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = ${id}::uuid ORDER BY mail."Id"`
  return mails.map(({ at, to, because: _, lastError: __, ...mail }, index) => ({
    ...mail,
    ...(to && { to }),
    at: at.toISOString(),
    means: describeMail(mails[index] as StoredMail),
  }))
}

/** `the notice to ravi@shop.example was rejected by the mail server of its receiver: 550 no such mailbox` */
function describeMail({ kind, to, status, because, lastError }: StoredMail): string {
  const what = `${kindNames[kind]?.one ?? kind}${to ? ` to ${to}` : ''} ${meanings[status]?.means ?? `is ${status}`}`
  const reason = because ? (reasons[because] ?? because) : ['Sent', 'Delivered'].includes(status) ? '' : lastError
  return reason ? `${what}: ${reason}` : what
}
