import type { Db } from '../database/database.ts'
import { type Enquiry, toEnquiry } from '../enquiries/enquiry.ts'

export type MailKind = 'Staff' | 'Acknowledgement' | 'Digest'

/** A mail that this process may send now, until its lease is over. */
export interface ClaimedMail {
  id: bigint
  kind: MailKind
  attempts: number
  /** When the first try began whose outcome is not known, this one not counted. */
  ambiguousAt: Date | null
  /** What it is about: one enquiry, several for a bundle of notices, none for a digest. */
  enquiries: Enquiry[]
  /** What a digest says. */
  text: string | null
}

type ClaimedRow = Pick<ClaimedMail, 'id' | 'attempts' | 'ambiguousAt'>

const BUNDLE_MAX = 100

/**
 * Takes up to `limit` due mails for `leaseSeconds`, by the database's clock. Every try counts as ambiguous until it is
 * known not to be.
 */
export async function claimMails(
  db: Db,
  kind: MailKind,
  limit: number,
  leaseSeconds: number,
  { onlyTriedBefore = false } = {},
): Promise<ClaimedMail[]> {
  const rows = await db.$queryRaw<ClaimedRow[]>`
    UPDATE "Quvera_Mail" mail
    SET "Attempts" = mail."Attempts" + 1,
      "NextAttemptAt" = now() + make_interval(secs => ${leaseSeconds}),
      "AmbiguousAt" = coalesce(mail."AmbiguousAt", now())
    FROM (
      SELECT "Id", "AmbiguousAt" FROM "Quvera_Mail"
      WHERE "Status" = 'Pending' AND "Kind" = ${kind}::"Quvera_MailKind" AND "NextAttemptAt" <= now()
        AND "BundledInto" IS NULL AND ("Attempts" > 0 OR NOT ${onlyTriedBefore})
      ORDER BY "NextAttemptAt" LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ) due
    WHERE mail."Id" = due."Id"
    RETURNING mail."Id" AS "id", mail."Attempts" AS "attempts", due."AmbiguousAt" AS "ambiguousAt"`
  return readClaimed(db, rows)
}

/**
 * Puts the due notices that were never tried into one mail, that of the first of them, and takes it like any other.
 * Who goes along is written down before anything is sent, so that a repeat is the same mail.
 */
export async function claimBundle(db: Db, leaseSeconds: number): Promise<ClaimedMail[]> {
  const rows = await db.$queryRaw<(ClaimedRow & { isFirst: boolean })[]>`
    WITH due AS (
      SELECT "Id" FROM "Quvera_Mail"
      WHERE "Status" = 'Pending' AND "Kind" = 'Staff' AND "NextAttemptAt" <= now()
        AND "BundledInto" IS NULL AND "Attempts" = 0
      ORDER BY "Id" LIMIT ${BUNDLE_MAX} FOR UPDATE SKIP LOCKED
    ), first AS (SELECT min("Id") AS "Id" FROM due)
    UPDATE "Quvera_Mail" mail
    SET "BundledInto" = nullif(first."Id", mail."Id"),
      "Attempts" = 1,
      "NextAttemptAt" = now() + make_interval(secs => ${leaseSeconds}),
      "AmbiguousAt" = now()
    FROM due, first
    WHERE mail."Id" = due."Id"
    RETURNING mail."Id" AS "id", 1 AS "attempts", NULL::timestamptz AS "ambiguousAt",
      mail."Id" = first."Id" AS "isFirst"`
  return readClaimed(
    db,
    rows.filter(({ isFirst }) => isFirst),
  )
}

async function readClaimed(db: Db, rows: ClaimedRow[]): Promise<ClaimedMail[]> {
  if (rows.length === 0) return []
  const mails = await db.mail.findMany({
    where: { id: { in: rows.map(({ id }) => id) } }, // fewer, where an enquiry was erased meanwhile
    include: {
      enquiry: true,
      bundled: { where: { status: 'Pending' }, include: { enquiry: true }, orderBy: { id: 'asc' } },
    },
    orderBy: { nextAttemptAt: 'asc' },
  })
  const taken = new Map(rows.map((row) => [row.id, row]))
  const whole = mails.filter(({ kind, enquiry }) => enquiry || kind === 'Digest') // it may be erased just now
  return whole.map(({ id, kind, text, enquiry, bundled, attempts }) => ({
    id,
    kind,
    text,
    attempts,
    ambiguousAt: taken.get(id)?.ambiguousAt ?? null,
    enquiries: [enquiry, ...bundled.map((mail) => mail.enquiry)].flatMap((row) => (row ? [toEnquiry(row)] : [])),
  }))
}

type Change = Parameters<Db['mail']['updateMany']>[0]['data']

/**
 * Writes down an outcome, also for those that went along, unless another worker has taken the mail over meanwhile:
 * then its try counts.
 */
export async function recordOutcome(db: Db, mail: ClaimedMail, data: Change): Promise<void> {
  const isLatest = { id: mail.id, attempts: mail.attempts, status: 'Pending' as const }
  if (mail.enquiries.length < 2) {
    await db.mail.updateMany({ where: isLatest, data })
    return
  }
  const isOver = data.status !== undefined && data.status !== 'Sent'
  await db.$transaction(async (transaction) => {
    const { count } = await transaction.mail.updateMany({ where: isLatest, data })
    if (count === 0) return
    // What was not sent together may be sent again one by one.
    const along = { ...data, ...(isOver && { bundledInto: null }) }
    await transaction.mail.updateMany({ where: { bundledInto: mail.id, status: 'Pending' }, data: along })
  })
}
