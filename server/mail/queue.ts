import type { Db } from '../database/database.ts'
import { findWithSecret } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailKind, MailStatus, WithheldBecause } from '../database/generated/enums.ts'
import type { Env } from '../env.ts'
import { allKinds, kinds, kindsToStaff, type StoredMail } from './kinds.ts'
import { type Answer, stateAfter, statesBefore } from './states.ts'

/*
 * The queue: rows of Quvera_Mail that are Pending. No transaction is open during a try. All times are the database's.
 * prisma/schema.prisma says what each column means.
 */

/** A mail that this process may send now, until its claim ends. */
export type ClaimedMail = StoredMail & {
  /** When the first earlier try under this tag began. Null: no earlier try may have sent it. */
  triedBeforeAt: Date | null
  /** Hours since then. */
  triedHoursAgo: number | null
}

interface ClaimOptions {
  /** In the order in which they are sent. */
  of: readonly MailKind[]
  /** Those of which an untried mail may be sent. A tried one counts in the budget already. */
  open: readonly MailKind[]
  /** Mails to other addresses of staff are left out. */
  staff: string[]
  /** Only tried mails, if there are any that are due. */
  isProbing: boolean
  /** How long no other process takes it. */
  claimSeconds: number
}

/** Longer than any back-off (of posts up to ten hours) and any pause that another side asks for (one hour). */
const DUE_MAX_HOURS = 12
/** Rows in one statement, because of its time limit. */
const CHUNK = 200
const RETRY_MAX_SECONDS = 300

interface TransitionOptions {
  /** Of Pending: when it is tried, from now. */
  dueInMs?: number
  /** Of Withheld. */
  because?: WithheldBecause | undefined
  /** What else is set, with a comma before it. */
  set?: Prisma.Sql
}

/**
 * Changes the state of mails that may have the new one, by states.ts. Not by way of it: releaseMails and redirectMails
 * (of-enquiry.ts), and after-pg-restore.sql. @returns those that changed
 */
export async function transition(
  db: Pick<Db, '$queryRaw'>,
  to: MailStatus,
  where: Prisma.Sql,
  { dueInMs = 0, because, set = Prisma.empty }: TransitionOptions = {},
): Promise<{ id: bigint; kind: MailKind }[]> {
  return db.$queryRaw`
    UPDATE "Quvera_Mail" mail SET "Status" = ${to}::"Quvera_MailStatus",
      "DueAt" = CASE WHEN ${to} = 'Pending' THEN now() + make_interval(secs => ${dueInMs / 1000}) END,
      "WithheldBecause" = ${because ?? null}::"Quvera_WithheldBecause" ${set}
    WHERE mail."Status" = ANY(${statesBefore(to)}::text[]::"Quvera_MailStatus"[]) AND ${where}
    RETURNING mail."Id" AS "id", mail."Kind"::text AS "kind"`
}

/**
 * Queues a mail to the visitor: none where the enquiry has no address, and none while one of this kind waits. The rest is seen to
 * by kinds.ts, and before each try: three a day, "This is not mine", whether it still holds; and a spam mark, which holds it up
 * until it is taken off. If the address is corrected, it goes to the new one.
 * @param condition of the enquiry (`form`), besides
 * @returns how many: one or none
 */
export function queueToVisitor(
  db: Pick<Db, '$executeRaw'>,
  id: string,
  kind: MailKind,
  condition = Prisma.sql`TRUE`,
): Promise<number> {
  return db.$executeRaw`
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Mailbox")
    SELECT form."Id", ${kind}::"Quvera_MailKind", "Quvera_mailbox"(form."Email")
    FROM "Quvera_Form" form WHERE form."Id" = ${id}::uuid AND form."Email" <> '' AND ${condition}
      AND NOT EXISTS (SELECT FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id"
        AND mail."Kind" = ${kind}::"Quvera_MailKind" AND mail."Status" = 'Pending')`
}

/**
 * Claims the most urgent mail: by kind, untried before tried, then by DueAt. Two processes may choose the same one: the second
 * waits for the first, then finds that it is no longer due.
 */
export async function claimNext(
  db: Db,
  { of, open, staff, isProbing, claimSeconds }: ClaimOptions,
): Promise<ClaimedMail | undefined> {
  // A time that is farther away than it can be was set while the clock was ahead.
  const isDue = Prisma.sql`("DueAt" <= now() OR "DueAt" > now() + make_interval(hours => ${DUE_MAX_HOURS}))`
  const mayBeTried = Prisma.sql`"Status" = 'Pending' AND "Kind" = kinds.kind AND ${isDue} AND ${isFor(staff)}`
  const [claimed] = await db.$queryRaw<Pick<ClaimedMail, 'id' | 'attempts' | 'triedBeforeAt' | 'triedHoursAgo'>[]>`
    UPDATE "Quvera_Mail" mail SET "Attempts" = mail."Attempts" + 1,
      "DueAt" = now() + make_interval(secs => ${claimSeconds}), "FirstTriedAt" = coalesce(mail."FirstTriedAt", now())
    FROM (
      SELECT "Id", "FirstTriedAt" FROM unnest(${of}::text[]::"Quvera_MailKind"[]) WITH ORDINALITY AS kinds (kind, rank)
      CROSS JOIN LATERAL (
        (SELECT "Id", "FirstTriedAt" FROM "Quvera_Mail" WHERE "FirstTriedAt" IS NULL AND ${mayBeTried}
          AND kinds.kind = ANY(${open}::text[]::"Quvera_MailKind"[]) ORDER BY "DueAt" LIMIT 1)
        UNION ALL
        (SELECT "Id", "FirstTriedAt" FROM "Quvera_Mail" WHERE "FirstTriedAt" IS NOT NULL AND ${mayBeTried} ORDER BY "DueAt" LIMIT 1)
      ) first_of_kind
      ORDER BY ${isProbing}::boolean AND "FirstTriedAt" IS NULL, -- a probe: the tried before the untried
        rank, "FirstTriedAt" IS NOT NULL LIMIT 1
    ) chosen
    WHERE mail."Id" = chosen."Id" AND mail."Status" = 'Pending' AND ${isDue}
    RETURNING mail."Id" AS "id", mail."Attempts" AS "attempts", chosen."FirstTriedAt" AS "triedBeforeAt",
      (extract(epoch FROM now() - chosen."FirstTriedAt") / 3600)::float AS "triedHoursAgo"`
  if (!claimed) return undefined
  const mail = await readMail(db, claimed.id)
  return mail?.status === 'Pending' ? { ...mail, ...claimed } : undefined // it may have been withheld since
}

/** Addresses are compared without regard to case: the setting may have been typed anew. */
function isFor(staff: string[]): Prisma.Sql {
  return Prisma.sql`("To" IS NULL OR lower("To") = ANY(${staff.map((address) => address.toLowerCase())}::text[]))`
}

/** Undefined if it was erased meanwhile, with what it is about. */
export async function readMail(db: Db, id: bigint): Promise<StoredMail | undefined> {
  const mail = await db.mail.findUnique({ where: { id }, include: { subscriber: true } })
  if (!mail) return undefined
  const enquiry = mail.enquiryId ? await findWithSecret(db, 'Id', mail.enquiryId) : undefined
  return { ...mail, enquiry }
}

/**
 * Changes nothing if another process has claimed the mail since, or a delivery event was earlier: then those count. A mail that
 * was withheld during the try and taken all the same is Sent.
 * @param dueInMs of an answer after which it stays Pending
 * @returns whether the answer counts
 */
export async function recordAnswer(db: Db, mail: ClaimedMail, answer: Answer, dueInMs: number): Promise<boolean> {
  const isTaken = answer.is === 'taken'
  const isNotSent = answer.is === 'not taken' || answer.is === 'withheld' // by this try, of which only its number stays
  const where = Prisma.sql`mail."Id" = ${mail.id} AND mail."Tag" = ${mail.tag}::uuid AND mail."Attempts" = ${mail.attempts}
    AND (mail."Status" = 'Pending' OR ${isTaken} AND mail."Status" = 'Withheld')`
  const set = Prisma.sql`, "LastError" = ${'error' in answer ? answer.error : null},
    "SentAt" = CASE WHEN ${isTaken} THEN now() END, "ResendId" = ${(isTaken && answer.resendId) || null},
    "FirstTriedAt" = CASE WHEN ${isNotSent} THEN ${mail.triedBeforeAt}::timestamptz ELSE mail."FirstTriedAt" END`
  const because = answer.is === 'withheld' ? answer.because : undefined
  return (await transition(db, stateAfter[answer.is], where, { dueInMs, because, set })).length > 0
}

/** Exponential, with jitter. */
export function backOffMs(attempts: number, baseSeconds: number, maxSeconds = RETRY_MAX_SECONDS): number {
  const seconds = Math.min(baseSeconds * 2 ** Math.min(attempts - 1, 20), maxSeconds)
  return seconds * 1000 * (0.75 + Math.random() / 2)
}

/** Of a mail (`mail`): Resend has not taken it, and nobody has it. */
export const NOT_TAKEN = Prisma.sql`mail."Status" = 'Pending' AND mail."Kind" <> 'Post' AND mail."Attempts" > 0
  AND mail."FirstTriedAt" IS NULL AND mail."LastError" IS NOT NULL`

/** Makes those due that wait for long, as after a limit of a day or a month. */
export async function retryNotTaken(db: Db): Promise<void> {
  await transition(db, 'Pending', Prisma.sql`${NOT_TAKEN} AND mail."DueAt" > now() + interval '5 minutes'`)
}

type Settings = Pick<Env, 'STAFF_EMAILS' | 'NOTIFY_URL' | 'MAIL_MAX_AGE_DAYS'>

/**
 * Withholds mails of these kinds that are not wanted any more: untried ones that were queued too long ago, mails to who has left
 * STAFF_EMAILS, and posts once NOTIFY_URL is unset. Not old summaries: the next one replaces them.
 */
export async function withholdStale(db: Db, env: Settings, of: readonly MailKind[] = allKinds): Promise<void> {
  // Replicas get new settings one after the other: one that has them already must not withhold what the others queue.
  const isLate = Prisma.sql`"QueuedAt" <= now() - interval '10 minutes'`
  for (const kind of of) {
    const days = Math.min(env.MAIL_MAX_AGE_DAYS, kinds[kind].maxAgeDays ?? env.MAIL_MAX_AGE_DAYS)
    const isOld = Prisma.sql`"FirstTriedAt" IS NULL AND "QueuedAt" <= now() - make_interval(days => ${days}::int)`
    if (kind !== 'Summary') await withhold(db, kind, 'TooOld', isOld)
    if (kindsToStaff.includes(kind))
      await withhold(db, kind, 'NotStaff', Prisma.sql`NOT ${isFor(env.STAFF_EMAILS)} AND ${isLate}`)
    if (kind === 'Post' && !env.NOTIFY_URL) await withhold(db, kind, 'NoUrl', isLate)
  }
}

/** Withholds all untried notices: the desk has their enquiries, and a summary rings. */
export function withholdNotices(db: Db): Promise<void> {
  return withhold(db, 'Notice', 'TooMany', Prisma.sql`"FirstTriedAt" IS NULL`)
}

/** Also a mail that is being tried: if it is taken all the same, it is Sent. */
async function withhold(db: Db, kind: MailKind, because: WithheldBecause, where: Prisma.Sql): Promise<void> {
  const some = Prisma.sql`mail."Id" IN (SELECT "Id" FROM "Quvera_Mail"
    WHERE "Status" = 'Pending' AND "Kind" = ${kind}::"Quvera_MailKind" AND ${where} LIMIT ${CHUNK})`
  let changed: number
  do changed = (await transition(db, 'Withheld', some, { because })).length
  while (changed === CHUNK)
}

/**
 * Which mails (`mail`) people may have sent once more: refused ones, uncertain ones, and those withheld for a reason that has
 * passed or that they may set aside. Not an acknowledgement of what is marked as spam: it would be withheld again.
 */
export const MAY_SEND_AGAIN = Prisma.sql`(mail."Status" IN ('Failed', 'Unknown')
  OR mail."WithheldBecause" IN ('TooMany', 'TooOld', 'Restored', 'ByStaff', 'NoUrl')
  OR mail."WithheldBecause" = 'ThreeADay' AND mail."QueuedAt" < now() - interval '24 hours')
  AND mail."Kind"::text = ANY(${allKinds.filter((kind) => kinds[kind].maySendAgain)}::text[])
  AND NOT (mail."Kind" = 'Acknowledgement' AND EXISTS (
    SELECT FROM "Quvera_Form" WHERE "Id" = mail."EnquiryId" AND "SuspectedSpam"))`

/**
 * Makes mails due now. A mail that was tried gets a new tag, as Resend sends nothing twice under the old one. What was withheld
 * keeps its own: most were never tried, and a try that was under way then sends nothing twice for 23 hours. What is Pending is
 * never touched. @returns how many
 */
export async function retryMails(db: Pick<Db, '$queryRaw'>, ids: bigint[]): Promise<number> {
  const where = Prisma.sql`mail."Id" = ANY(${ids.map(String)}::bigint[]) AND ${MAY_SEND_AGAIN}`
  const set = Prisma.sql`, "QueuedAt" = now(),
    "FirstTriedAt" = CASE WHEN mail."Status" = 'Withheld' AND mail."FirstTriedAt" > now() - interval '23 hours' THEN mail."FirstTriedAt" END,
    "SentAt" = NULL, "ResendId" = NULL,
    "Tag" = CASE mail."Status" WHEN 'Withheld' THEN mail."Tag" ELSE gen_random_uuid() END,
    "Attempts" = CASE mail."Status" WHEN 'Withheld' THEN mail."Attempts" ELSE 0 END`
  return (await transition(db, 'Pending', where, { set })).length
}
