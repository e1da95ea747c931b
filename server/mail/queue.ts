import type { Db } from '../database/database.ts'
import { readWithSecret } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus, WithheldBecause } from '../database/generated/enums.ts'
import { allKinds, doorbells, kinds, type StoredMail } from './kinds.ts'
import { type Answer, stateAfter, statesBefore } from './states.ts'

/*
 * The queue: rows of Quvera_Mail that are Pending. No transaction is open during a try. All times are the database's.
 * prisma/schema.prisma says what each column means.
 */

/** A mail that this process may send now, until its claim ends. */
export interface ClaimedMail extends StoredMail {
  attempts: number
  /** When the first earlier try under this tag began. Null: no earlier try may have sent it. */
  triedBeforeAt: Date | null
  /** Hours since then. */
  triedHoursAgo: number | null
}

interface ClaimOptions {
  /** In the order in which they are sent. */
  kinds: readonly MailKind[]
  /** Those of which an untried mail may be sent. A tried one counts in the budget already. */
  open: readonly MailKind[]
  /** Mails to other addresses of staff are left out. */
  staff: string[]
  /** Only tried mails, if there are any. */
  isProbing: boolean
  leaseSeconds: number
}

/** Longer than any back-off (of posts up to ten hours) and any pause that another side asks for (one hour). */
const DUE_MAX_HOURS = 12
/** Rows in one statement, because of its time limit. */
const CHUNK = 200
const RETRY_MAX_SECONDS = 300

interface Change {
  /** Of Pending: when it is tried, from now. */
  dueInMs?: number
  /** Of Withheld. */
  because?: WithheldBecause | undefined
  /** What else is set, with a comma before it. */
  set?: Prisma.Sql
}

/**
 * The only statement that changes the state of mails (a claim changes none), besides those for spam (of-enquiry.ts) and after a restore. Skips
 * mails that may not have the new state. @returns how many changed
 */
export async function transition(
  db: Pick<Db, '$queryRaw'>,
  to: MailStatus,
  where: Prisma.Sql,
  { dueInMs = 0, because, set = Prisma.empty }: Change = {},
): Promise<number> {
  const changed = await db.$queryRaw<unknown[]>`
    UPDATE "Quvera_Mail" mail SET "Status" = ${to}::"Quvera_MailStatus",
      "DueAt" = CASE WHEN ${to} = 'Pending' THEN now() + make_interval(secs => ${dueInMs / 1000}) END,
      "WithheldBecause" = ${because ?? null}::"Quvera_WithheldBecause" ${set}
    WHERE mail."Status" = ANY(${statesBefore(to)}::text[]::"Quvera_MailStatus"[]) AND ${where}
    RETURNING mail."Id"`
  return changed.length
}

/**
 * Claims the most urgent mail: by kind, untried before tried, then by DueAt. Two processes may select the same one: the second
 * waits for the first, then finds that the outer condition no longer holds.
 */
export async function claimNext(
  db: Db,
  { kinds: wanted, open, staff, isProbing, leaseSeconds }: ClaimOptions,
): Promise<ClaimedMail | undefined> {
  // A time that is farther away than it can be was set while the clock was ahead.
  const isDue = Prisma.sql`("DueAt" <= now() OR "DueAt" > now() + make_interval(hours => ${DUE_MAX_HOURS}))`
  const mayBeTried = Prisma.sql`"Status" = 'Pending' AND "Kind" = kinds.kind AND ${isDue} AND ${isFor(staff)}`
  const anyTried = Prisma.sql`EXISTS (SELECT FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "FirstTriedAt" IS NOT NULL
    AND "Kind" = ANY(${wanted}::text[]::"Quvera_MailKind"[]) AND ${isDue} AND ${isFor(staff)})`
  const untried = Prisma.sql`SELECT "Id", "FirstTriedAt" FROM "Quvera_Mail"
    WHERE "FirstTriedAt" IS NULL AND ${mayBeTried} AND kinds.kind = ANY(${open}::text[]::"Quvera_MailKind"[])
      AND NOT (${isProbing} AND ${anyTried}) ORDER BY "DueAt" LIMIT 1`
  const tried = Prisma.sql`SELECT "Id", "FirstTriedAt" FROM "Quvera_Mail" WHERE "FirstTriedAt" IS NOT NULL AND ${mayBeTried}
    ORDER BY "DueAt" LIMIT 1`
  const [claimed] = await db.$queryRaw<Pick<ClaimedMail, 'id' | 'triedBeforeAt' | 'triedHoursAgo' | 'attempts'>[]>`
    UPDATE "Quvera_Mail" mail SET "Attempts" = mail."Attempts" + 1,
      "DueAt" = now() + make_interval(secs => ${leaseSeconds}), "FirstTriedAt" = coalesce(mail."FirstTriedAt", now())
    FROM (
      SELECT next."Id", next."FirstTriedAt" FROM unnest(${wanted}::text[]::"Quvera_MailKind"[]) WITH ORDINALITY AS kinds (kind, place)
      CROSS JOIN LATERAL ((${untried}) UNION ALL (${tried})) next
      ORDER BY place, "FirstTriedAt" IS NOT NULL LIMIT 1
    ) next
    WHERE mail."Id" = next."Id" AND mail."Status" = 'Pending' AND ${isDue}
    RETURNING mail."Id" AS "id", mail."Attempts" AS "attempts", next."FirstTriedAt" AS "triedBeforeAt",
      (extract(epoch FROM now() - next."FirstTriedAt") / 3600)::float AS "triedHoursAgo"`
  if (!claimed) return undefined
  const mail = await readMail(db, claimed.id)
  return mail && { ...mail, ...claimed }
}

/** Addresses are compared without regard to case: the setting may have been typed anew. */
function isFor(staff: string[]): Prisma.Sql {
  return Prisma.sql`("To" IS NULL OR lower("To") = ANY(${staff.map((address) => address.toLowerCase())}::text[]))`
}

/** Undefined if it was erased meanwhile, with what it is about. */
export async function readMail(db: Db, mailId: bigint): Promise<StoredMail | undefined> {
  type Row = Omit<StoredMail, 'enquiry' | 'subscriber'> & Record<'enquiryId' | 'subscriberId', string | null>
  const [row] = await db.$queryRaw<Row[]>`
    SELECT mail."Id" AS "id", "Kind"::text AS "kind", "Tag"::text AS "tag", "To" AS "to", "Mailbox" AS "mailbox",
      "EnquiryId"::text AS "enquiryId", "SubscriberId"::text AS "subscriberId", "Text" AS "text"
    FROM "Quvera_Mail" mail WHERE mail."Id" = ${mailId}`
  if (!row) return undefined
  const { enquiryId, subscriberId, ...mail } = row
  const [enquiry] = enquiryId ? await readWithSecret(db, Prisma.sql`WHERE form."Id" = ${enquiryId}::uuid`) : []
  const subscriber = subscriberId ? await db.subscriber.findUnique({ where: { id: subscriberId } }) : undefined
  return { ...mail, enquiry, subscriber: subscriber ?? undefined }
}

/**
 * Changes nothing if another process has claimed the mail since, or a delivery event was earlier: then those count. A mail that
 * was withheld during the try and taken all the same is Sent.
 * @param dueInMs of an answer after which it stays Pending
 * @returns whether the answer counts
 */
export async function recordAnswer(db: Db, mail: ClaimedMail, answer: Answer, dueInMs: number): Promise<boolean> {
  const isTaken = answer.is === 'taken'
  const isAsIfNotTried = answer.is === 'not taken' || answer.is === 'withheld'
  const where = Prisma.sql`mail."Id" = ${mail.id} AND mail."Tag" = ${mail.tag}::uuid AND mail."Attempts" = ${mail.attempts}
    AND (mail."Status" = 'Pending' OR ${isTaken} AND mail."Status" = 'Withheld')`
  const set = Prisma.sql`, "LastError" = ${'error' in answer ? answer.error : null},
    "SentAt" = CASE WHEN ${isTaken} THEN now() END, "ResendId" = ${(isTaken && answer.resendId) || null},
    "FirstTriedAt" = CASE WHEN ${isAsIfNotTried} THEN ${mail.triedBeforeAt}::timestamptz ELSE mail."FirstTriedAt" END`
  const because = answer.is === 'withheld' ? answer.because : undefined
  return (await transition(db, stateAfter[answer.is], where, { dueInMs, because, set })) > 0
}

/** Exponential, with jitter. */
export function backOffMs(attempts: number, baseSeconds: number, maxSeconds = RETRY_MAX_SECONDS): number {
  const seconds = Math.min(baseSeconds * 2 ** Math.min(attempts - 1, 20), maxSeconds)
  return seconds * 1000 * (0.75 + Math.random() / 2)
}

/** Withholds untried mails that were wanted too long ago. Not summaries: the next one replaces them. */
export async function withholdOld(db: Db, of: readonly MailKind[], maxAgeDays: number): Promise<void> {
  for (const kind of of.filter((each) => each !== 'Summary')) {
    const days = Math.min(maxAgeDays, kinds[kind].maxAgeDays)
    const isOld = Prisma.sql`"QueuedAt" <= now() - make_interval(days => ${days}::int)`
    await withhold(db, 'TooOld', Prisma.sql`"FirstTriedAt" IS NULL AND ${isOf(kind)} AND ${isOld}`)
  }
}

/** Withholds all untried notices: the desk has their enquiries, and a summary rings. */
export function withholdNotices(db: Db): Promise<void> {
  return withhold(db, 'TooMany', Prisma.sql`"FirstTriedAt" IS NULL AND ${isOf('Notice')}`)
}

/** Replicas get new settings one after the other: one that has them already must not withhold what the others queue. */
const IS_LATE = Prisma.sql`"QueuedAt" <= now() - interval '10 minutes'`

/** Withholds mails to who has left STAFF_EMAILS. */
export async function withholdOfOthers(db: Db, staff: string[]): Promise<void> {
  for (const kind of doorbells)
    await withhold(db, 'NotStaff', Prisma.sql`${isOf(kind)} AND NOT ${isFor(staff)} AND ${IS_LATE}`)
}

/** Withholds posts, once NOTIFY_URL is not set any more. */
export function withholdPosts(db: Db): Promise<void> {
  return withhold(db, 'NoUrl', Prisma.sql`${isOf('Post')} AND ${IS_LATE}`)
}

function isOf(kind: MailKind): Prisma.Sql {
  return Prisma.sql`"Kind" = ${kind}::"Quvera_MailKind"`
}

async function withhold(db: Db, because: WithheldBecause, where: Prisma.Sql): Promise<void> {
  const some = Prisma.sql`mail."Id" IN (SELECT "Id" FROM "Quvera_Mail"
    WHERE "Status" = 'Pending' AND ${where} LIMIT ${CHUNK}) AND mail."Status" = 'Pending'`
  let changed: number
  do changed = await transition(db, 'Withheld', some, { because })
  while (changed === CHUNK)
}

/**
 * Which mails (`mail`) people may have sent once more: refused ones, uncertain ones, and those withheld for a reason that can
 * pass. Not an acknowledgement of what is marked as spam: it would be withheld again.
 */
export const MAY_SEND_AGAIN = Prisma.sql`(mail."Status" IN ('Failed', 'Unknown')
  OR mail."WithheldBecause" IN ('TooMany', 'TooOld', 'Restored', 'ByStaff', 'NoUrl'))
  AND mail."Kind"::text = ANY(${allKinds.filter((kind) => kinds[kind].maySendAgain)}::text[])
  AND NOT (mail."Kind" = 'Acknowledgement' AND EXISTS (
    SELECT FROM "Quvera_Form" WHERE "Id" = mail."EnquiryId" AND "SuspectedSpam"))`

/**
 * Makes mails due now. A mail that was tried gets a new tag, as Resend sends nothing twice under the old one. What was withheld
 * keeps its own: most were never tried, and a try that was under way then sends nothing twice for 23 hours. What is Pending is
 * never touched. @returns how many
 */
export function retryMails(db: Pick<Db, '$queryRaw'>, ids: bigint[]): Promise<number> {
  const where = Prisma.sql`mail."Id" = ANY(${ids.map(String)}::bigint[]) AND ${MAY_SEND_AGAIN}`
  const set = Prisma.sql`, "QueuedAt" = now(),
    "FirstTriedAt" = CASE WHEN mail."Status" = 'Withheld' AND mail."FirstTriedAt" > now() - interval '23 hours' THEN mail."FirstTriedAt" END,
    "SentAt" = NULL, "ResendId" = NULL,
    "Tag" = CASE mail."Status" WHEN 'Withheld' THEN mail."Tag" ELSE gen_random_uuid() END,
    "Attempts" = CASE mail."Status" WHEN 'Withheld' THEN mail."Attempts" ELSE 0 END`
  return transition(db, 'Pending', where, { set })
}
