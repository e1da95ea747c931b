import type { DeskState } from '../../shared/desk.ts'
import type { Db } from '../database/database.ts'
import { ENQUIRY, type Enquiry, inOrder, isAfter, type ListOrder, readEnquiries } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import { RequestError } from '../http/errors.ts'
import { kinds } from '../mail/kinds.ts'
import { MAY_SEND_AGAIN } from '../mail/queue.ts'
import { states as mailStates, withheldReasons } from '../mail/states.ts'
import { readHistory } from './history.ts'
import type { Choice } from './inputs.ts'
import { matches } from './search.ts'

/* What the desk shows. In SQL, with enums as text: a value of a newer version is shown as it is. */

const PAGE = 25
const DAYS = 30
/** Of enquiries from one number so many are counted, so that a flood does not slow the list. */
const COUNTED_MAX = 20
const EARLIER_MAX = 20

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

interface StoredRow extends Enquiry {
  calls: number
  statusBy: string | null
  statusAt: Date | null
  acknowledgement: string | null
  earlierOfNumber: number
}

/** Reads what a row of the desk shows of the enquiries of `forms`. */
function readRows(db: Db, forms: Prisma.Sql, order?: ListOrder): Promise<StoredRow[]> {
  return db.$queryRaw`
    SELECT ${ENQUIRY}, form."Calls" AS "calls", changed."By" AS "statusBy", changed."At" AS "statusAt",
      (SELECT mail."Status"::text FROM "Quvera_Mail" mail
        WHERE mail."EnquiryId" = form."Id" AND mail."Kind" = 'Acknowledgement' ORDER BY mail."Id" DESC LIMIT 1) AS "acknowledgement",
      (SELECT count(*)::int FROM (SELECT FROM "Quvera_Form" earlier WHERE earlier."Mobile" = form."Mobile"
        AND (earlier."ReceivedAt", earlier."Id") < (form."ReceivedAt", form."Id") LIMIT ${COUNTED_MAX}) AS counted) AS "earlierOfNumber"
    FROM (${forms}) form
    LEFT JOIN LATERAL (SELECT coalesce("Who", "Role") AS "By", "At" FROM "Quvera_History"
      WHERE "EnquiryId" = form."Id" AND "Column" = 'Status' ORDER BY "Id" DESC LIMIT 1) changed ON TRUE
    ORDER BY ${inOrder(order)}`
}

const ordinals = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']
const undelivered: Record<string, string> = {
  Bounced: 'acknowledgement bounced',
  Failed: 'acknowledgement was refused',
  Complained: 'acknowledgement was marked as spam',
}

function toRow({
  id: _,
  contentHash: __,
  acknowledgement,
  earlierOfNumber,
  statusBy,
  statusAt,
  note,
  ...row
}: StoredRow) {
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

/** @param before the reference that the page before this one ended with */
export async function readList(db: Db, { before, ...choice }: Choice & { before?: string | undefined }) {
  const { order } = choice
  const [last] = before ? await readEnquiries(db, Prisma.sql`WHERE form."Reference" = ${before}`) : []
  if (before && !last) throw new RequestError(400, 'The list cannot go on from there: load it anew.')
  const [rows, counts, days] = await Promise.all([
    readRows(
      db,
      Prisma.sql`SELECT form.* FROM "Quvera_Form" form WHERE ${chosen(choice)} AND ${isAfter(last, order)}
        ORDER BY ${inOrder(order)} LIMIT ${PAGE + 1}`,
      order,
    ),
    readCounts(db),
    readDays(db),
  ])
  const enquiries = rows.slice(0, PAGE).map(toRow)
  const next = rows.length > PAGE ? enquiries.at(-1)?.reference : undefined
  return { enquiries, ...(next && { next }), counts, days }
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

export const notFound = () => new RequestError(404, 'There is no such enquiry. Perhaps it was erased.')

export async function readEnquiry(db: Db, reference: string) {
  const [row] = await readRows(
    db,
    Prisma.sql`SELECT form.* FROM "Quvera_Form" form WHERE form."Reference" = ${reference}`,
  )
  if (!row) throw notFound()
  const isOfPerson = Prisma.sql`(form."Mobile" = ${row.mobile} OR lower(form."Email") = lower(${row.email}))`
  const [mails, history, earlier] = await Promise.all([
    readMailsOf(db, row.id),
    readHistory(db, row.id),
    readEnquiries(db, Prisma.sql`WHERE ${isOfPerson} AND ${isAfter(row)} ORDER BY ${inOrder()} LIMIT ${EARLIER_MAX}`),
  ])
  return {
    ...toRow(row),
    mails,
    history,
    earlier: earlier.map(({ reference, receivedAt, products, quantity, status }) => ({
      ...{ reference, products, status },
      receivedAt: receivedAt.toISOString(),
      quantity: Number(quantity),
    })),
  }
}

/** What the tables of mail/ say; a value of a newer version is missing there. */
const kindNames: Partial<Record<string, { one: string }>> = kinds
const meanings: Partial<Record<string, { means: string }>> = mailStates
const reasons: Partial<Record<string, string>> = withheldReasons

interface ShownMail {
  id: string
  kind: string
  to: string | null
  status: string
  at: Date
  because: string | null
  lastError: string | null
  maySendAgain: boolean
}

async function readMailsOf(db: Db, id: string) {
  const mails = await db.$queryRaw<ShownMail[]>`
    SELECT mail."Id"::text AS "id", mail."Kind"::text AS "kind", mail."To" AS "to", mail."Status"::text AS "status",
      coalesce(mail."SentAt", mail."FirstTriedAt", mail."QueuedAt") AS "at", mail."WithheldBecause"::text AS "because",
      mail."LastError" AS "lastError", (${MAY_SEND_AGAIN}) IS TRUE AS "maySendAgain"
    FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = ${id}::uuid ORDER BY mail."Id"`
  return mails.map(({ id, kind, to, status, at, because, lastError, maySendAgain }) => {
    const reason = because ? (reasons[because] ?? because) : ['Sent', 'Delivered'].includes(status) ? '' : lastError
    const what = `${kindNames[kind]?.one ?? kind}${to ? ` to ${to}` : ''} ${meanings[status]?.means ?? `is ${status}`}`
    // the notice to ravi@shop.example was rejected by the mail server of its receiver: 550 no such mailbox
    const means = reason ? `${what}: ${reason}` : what
    return { id, kind, ...(to && { to }), status, means, at: at.toISOString(), maySendAgain }
  })
}
