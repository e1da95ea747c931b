import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { toEnquiry } from '../enquiries/enquiry.ts'
import type { Outcome } from './resend.ts'
import { type Change, kinds, mailKinds, move, TOO_OLD } from './states.ts'

/*
 * What is owed: rows of Quvera_Mail that are Pending. The statement that stores an enquiry writes its notice and its
 * acknowledgement; digests and bundles are written here. A sender takes what is due by a lease: it moves the next
 * attempt forward before it sends, and no transaction stays open meanwhile.
 */

/** A mail that this process may send now, until its lease is over. */
export type ClaimedMail = Awaited<ReturnType<typeof readClaimed>>[number]

interface ClaimedRow {
  id: bigint
  /** When the first try began whose outcome is not known, this one not counted. */
  ambiguousAt: Date | null
}

/** More than fit into a mail: in full, and by their reference. */
const SHOWN_MAX = 50
const NAMED_MAX = 1000
/** Few enough for one statement to stay well within the time limit of a query. */
const CHUNK = 1000

const isSuspected = Prisma.sql`EXISTS (
  SELECT FROM "Quvera_Form" form WHERE form."Id" = mail."EnquiryId" AND form."SuspectedSpam")`

/** Which of the due mails to take. */
export const filters = {
  all: Prisma.sql`TRUE`,
  /** A try without a clear answer: the plan has counted it. */
  unclear: Prisma.sql`mail."AmbiguousAt" IS NOT NULL`,
  /** Those that cannot go along in a new bundle. */
  alone: Prisma.sql`(mail."Attempts" > 0 OR mail."EnquiryId" IS NULL)`,
  suspected: isSuspected,
  plain: Prisma.sql`(mail."Attempts" > 0 OR NOT ${isSuspected})`,
}

/**
 * Takes up to `limit` due mails for `leaseSeconds`, by the database's clock. Every try counts as ambiguous until it is
 * known not to be.
 */
export async function claimMails(
  db: Db,
  of: MailKind[],
  limit: number,
  leaseSeconds: number,
  filter = filters.all,
): Promise<ClaimedMail[]> {
  if (limit <= 0 || of.length === 0) return []
  const list = Prisma.join(of.map((kind) => Prisma.sql`${kind}::"Quvera_MailKind"`))
  const rows = await db.$queryRaw<ClaimedRow[]>`
    UPDATE "Quvera_Mail" mail
    SET "Attempts" = mail."Attempts" + 1,
      "NextAttemptAt" = now() + make_interval(secs => ${leaseSeconds}),
      "AmbiguousAt" = coalesce(mail."AmbiguousAt", now())
    FROM (
      SELECT "Id", "AmbiguousAt" FROM "Quvera_Mail" mail
      WHERE "Status" = 'Pending' AND "Kind" IN (${list}) AND "NextAttemptAt" <= now()
        AND "BundledInto" IS NULL AND ${filter}
      ORDER BY "NextAttemptAt" LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ) due
    WHERE mail."Id" = due."Id"
    RETURNING mail."Id" AS "id", due."AmbiguousAt" AS "ambiguousAt"`
  return readClaimed(db, rows)
}

/**
 * Puts all due notices that were never tried into one mail of its own, and takes that. Who goes along is written down
 * before anything is sent, so that a repeat is the same mail. A single one needs no bundle.
 */
export async function claimBundle(db: Db, leaseSeconds: number): Promise<ClaimedMail[]> {
  const due = Prisma.sql`"Status" = 'Pending' AND "Kind" = 'Staff' AND "NextAttemptAt" <= now()
    AND "BundledInto" IS NULL AND "Attempts" = 0`
  const rows = await db.$queryRaw<ClaimedRow[]>`
    INSERT INTO "Quvera_Mail" ("Kind", "Attempts", "NextAttemptAt", "AmbiguousAt", "Key")
    SELECT 'Staff', 1, now() + make_interval(secs => ${leaseSeconds}), now(), 'bundle/' || gen_random_uuid()
    FROM (SELECT FROM "Quvera_Mail" WHERE ${due} LIMIT 2) two HAVING count(*) = 2
    RETURNING "Id" AS "id", NULL::timestamptz AS "ambiguousAt"`
  const [bundle] = rows
  if (!bundle) return claimMails(db, ['Staff'], 1, leaseSeconds)
  for (let added = CHUNK; added === CHUNK; ) {
    added = await db.$executeRaw`
      UPDATE "Quvera_Mail" SET "BundledInto" = ${bundle.id}
      WHERE "Id" IN (SELECT "Id" FROM "Quvera_Mail" WHERE ${due} ORDER BY "Id" LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED)`
  }
  return readClaimed(db, rows)
}

/** What is written down of a try. */
export interface Result {
  state: MailStatus
  change: Change
  /** For so long nothing else is to be tried either. */
  pauseMs?: number
}

/** Writes down what came of a try, unless another process has taken the mail over meanwhile: then its try counts. */
export async function settle(db: Db, { id, attempts }: ClaimedMail, { state, change }: Result): Promise<void> {
  await move(db, { id, attempts, status: 'Pending' }, state, change)
}

const RETRY_MAX_SECONDS = 300
const MISCONFIGURED_FACTOR = 12
const QUOTA_PAUSE_MS = 3_600_000

/** What Resend's answer makes of a mail; `seconds` are the base of the back-off. */
export function resultOf({ kind, ambiguousAt, attempts }: ClaimedMail, outcome: Outcome, seconds: number): Result {
  if (outcome.is === 'sent')
    return { state: 'Sent', change: { resendId: outcome.resendId, sentAt: new Date(), lastError: null } }
  const lastError = outcome.error
  // Anybody can type an address: nobody need do anything about one that is none.
  if (outcome.is === 'refused' && kind === 'Confirmation')
    return { state: 'Withheld', change: { lastError: `Resend refuses the address: ${lastError}`, ambiguousAt } }
  if (outcome.is === 'refused') return { state: 'Failed', change: { lastError, ambiguousAt } }
  if (outcome.is === 'ambiguous' && outcome.final) return { state: 'Unknown', change: { lastError } }
  if (outcome.is === 'ambiguous') return tryAgain(backOffMs(attempts, seconds), lastError)
  const pauseMs = {
    throttled: outcome.retryAfterMs ?? seconds * 1000,
    misconfigured: Math.min(seconds * MISCONFIGURED_FACTOR, RETRY_MAX_SECONDS) * 1000,
    overQuota: QUOTA_PAUSE_MS,
  }[outcome.is]
  const { state, change } = tryAgain(pauseMs, lastError)
  return { state, change: { ...change, ambiguousAt }, pauseMs }
}

export function tryAgain(waitMs: number, lastError: string): Result {
  return { state: 'Pending', change: { nextAttemptAt: new Date(Date.now() + waitMs), lastError } }
}

/** How long to wait after so many tries that failed: twice as long each time, and not all for the same time. */
export function backOffMs(attempts: number, baseSeconds: number): number {
  const seconds = Math.min(baseSeconds * 2 ** Math.min(attempts - 1, 10), RETRY_MAX_SECONDS)
  return seconds * 1000 * (0.75 + Math.random() / 2)
}

/** All that is needed to write these mails. */
export async function readClaimed(db: Db, rows: ClaimedRow[]) {
  if (rows.length === 0) return []
  const mails = await db.mail.findMany({
    where: { id: { in: rows.map(({ id }) => id) } }, // fewer, where an enquiry was erased meanwhile
    include: { enquiry: true, subscriber: true },
    orderBy: { nextAttemptAt: 'asc' },
  })
  const ambiguous = new Map(rows.map(({ id, ambiguousAt }) => [id, ambiguousAt]))
  const whole = mails.filter(({ enquiry, key }) => enquiry || key) // it may be erased just now
  return Promise.all(
    whole.map(async ({ id, kind, text, key, enquiry, subscriber, attempts }) => ({
      id,
      kind,
      text,
      subscriber,
      attempts,
      isBundle: kind === 'Staff' && !enquiry,
      key: key ?? `${kinds[kind].key}/${enquiry?.id}`,
      ambiguousAt: ambiguous.get(id) ?? null,
      ...(enquiry
        ? { enquiries: [toEnquiry(enquiry)], references: [enquiry.reference], total: 1 }
        : await readAlong(db, id)),
    })),
  )
}

/** What a bundle is about: the newest enquiries, suspected spam last, and how many there are. */
async function readAlong(db: Db, bundle: bigint) {
  const these = {
    where: { mails: { some: { bundledInto: bundle } } },
    orderBy: [{ suspectedSpam: 'asc' }, { receivedAt: 'desc' }, { id: 'desc' }],
  } satisfies Parameters<Db['enquiry']['findMany']>[0]
  const rows = await db.enquiry.findMany({ ...these, take: SHOWN_MAX })
  const named = await db.enquiry.findMany({ ...these, take: NAMED_MAX, select: { reference: true } })
  return {
    enquiries: rows.map(toEnquiry),
    references: named.map(({ reference }) => reference),
    total: await db.mail.count({ where: { bundledInto: bundle } }),
  }
}

/** Writes a digest down as a mail that is owed: it is sent like any other. */
export async function queueDigest(db: Pick<Db, 'mail'>, text: string): Promise<void> {
  await db.mail.createMany({ data: { kind: 'Digest', text, key: `${kinds.Digest.key}/${crypto.randomUUID()}` } })
}

/**
 * What nobody tried to send, or asked to, for so long is not sent any more: a trial's mails, when a key is set one day.
 * A post, tried or not, was for the receiver of its time.
 * @returns of how many enquiries staff will not be told by it, though nobody has dealt with them
 */
export async function withholdOld(db: Db, maxAgeDays: number, of = mailKinds): Promise<number> {
  const reason = `${TOO_OLD} ${maxAgeDays} days old.`
  const cutoff = Prisma.sql`now() - make_interval(days => ${maxAgeDays})`
  const [{ untold }] = await db.$queryRaw<[{ untold: number }]>`
    WITH withheld AS (
      UPDATE "Quvera_Mail" mail SET "Status" = 'Withheld', "LastError" = ${reason}
      WHERE "Status" = 'Pending' AND "Kind"::text IN (${Prisma.join(of)}) AND "BundledInto" IS NULL
        AND ("AmbiguousAt" IS NULL OR "Kind" = 'Post') AND "NextAttemptAt" < ${cutoff} AND coalesce(
          (SELECT "ReceivedAt" FROM "Quvera_Form" form WHERE form."Id" = mail."EnquiryId"),
          (SELECT max("ReceivedAt") FROM "Quvera_Form" form JOIN "Quvera_Mail" along ON along."EnquiryId" = form."Id"
            WHERE along."BundledInto" = mail."Id"),
          (SELECT "SubscribedAt" FROM "Quvera_Subscriber" subscriber WHERE subscriber."Id" = mail."SubscriberId")
        ) < ${cutoff}
      RETURNING "Id", "Kind"
    )
    SELECT count(*)::int AS "untold" FROM withheld
    JOIN "Quvera_Mail" notice ON notice."Id" = withheld."Id" OR notice."BundledInto" = withheld."Id"
    JOIN "Quvera_Form" form ON form."Id" = notice."EnquiryId"
    WHERE withheld."Kind" = 'Staff' AND form."Status" = 'New'`
  return untold
}

/**
 * What a clock that was ahead has dated would wait, or count as sent, until then. Whether Resend still knows the key of
 * a mail that was tried meanwhile is not known.
 */
export async function boundFuture(db: Db): Promise<void> {
  const future = Prisma.sql`> now() + interval '2 hours'` // no wait is longer
  await db.$executeRaw`
    UPDATE "Quvera_Mail" SET
      "NextAttemptAt" = CASE WHEN "NextAttemptAt" ${future} THEN now() ELSE "NextAttemptAt" END,
      "AmbiguousAt" = CASE WHEN "AmbiguousAt" ${future} THEN to_timestamp(0) ELSE "AmbiguousAt" END,
      "SentAt" = CASE WHEN "SentAt" ${future} THEN now() ELSE "SentAt" END
    WHERE "SentAt" ${future} OR ("Status" = 'Pending' AND ("NextAttemptAt" ${future} OR "AmbiguousAt" ${future}))`
}
