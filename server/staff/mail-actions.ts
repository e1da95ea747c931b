import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { transition } from '../mail/queue.ts'
import type { MailFilter } from '../mail/states.ts'

/* What `staff mails retry` and `staff mails withhold` do. */

/** Pending mails of a backup are withheld after a restore, because they may have been sent since the backup. */
export const withheldByRestore = {
  status: 'Withheld',
  lastError: 'restored from a backup: may have been sent since',
} as const satisfies MailFilter

export interface Retry {
  /** None: all. */
  ids: bigint[]
  includeUnknown: boolean
  /** Also those that a restore withheld. */
  includeRestored: boolean
}

const named = (ids: bigint[]) => Prisma.sql`mail."Id" = ANY(${ids.map(String)}::bigint[])`

/** The mails that a retry of all makes due. Notices that wait for a summary are left out. */
export function wouldBeDue({ includeUnknown, includeRestored }: Omit<Retry, 'ids'>): MailFilter {
  const unsent: MailFilter[] = [
    { status: 'Pending', dueAt: { not: null } },
    { status: { in: includeUnknown ? ['Failed', 'Unknown'] : ['Failed'] } },
  ]
  return { OR: includeRestored ? [...unsent, withheldByRestore] : unsent }
}

/**
 * Makes mails due now. A mail that Resend has taken, or may have taken, gets a new key, because Resend sends nothing under
 * the old one. Its `LastError` stays until the next try.
 * @returns how many are due, and how many were left because they may have been sent
 */
export async function retryMails(db: Db, { ids, includeUnknown, includeRestored }: Retry) {
  const all = ids.length === 0
  const unsent = includeUnknown ? ['Pending', 'Failed', 'Unknown'] : ['Pending', 'Failed']
  const due = await transition(
    db,
    'Pending',
    Prisma.sql`${all ? Prisma.sql`(mail."DueAt" IS NOT NULL OR mail."Status" <> 'Pending')` : named(ids)} AND (
      mail."Status" = ANY(${unsent}::text[]::"Quvera_MailStatus"[])
      OR (${includeRestored} AND mail."Status" = 'Withheld' AND mail."LastError" = ${withheldByRestore.lastError}))`,
    Prisma.sql`, "DueAt" = now(), "ReportedAt" = NULL, "ResendId" = NULL,
      "TriedAt" = CASE "Status" WHEN 'Pending' THEN "TriedAt" END,
      "LastError" = CASE "Status" WHEN 'Withheld' THEN NULL ELSE "LastError" END,
      "Key" = CASE WHEN "Status" = 'Unknown' OR "ResendId" IS NOT NULL THEN 'again/' || gen_random_uuid() ELSE "Key" END`,
  )
  const where: MailFilter = { status: 'Unknown', ...(!all && { id: { in: ids } }) }
  return { due: due.length, left: includeUnknown ? 0 : await db.mail.count({ where }) }
}

/** Withholds the mails with these ids, or all pending ones about enquiries received before. */
export async function withholdMails(db: Db, which: { ids: bigint[] } | { before: Date }): Promise<number> {
  const where =
    'ids' in which
      ? named(which.ids)
      : Prisma.sql`mail."Status" = 'Pending' AND EXISTS (
          SELECT FROM "Quvera_Form" form WHERE form."Id" = mail."EnquiryId" AND form."ReceivedAt" < ${which.before})`
  const reason = Prisma.sql`CASE WHEN "TriedAt" IS NULL THEN 'Not sent: withheld by staff.'
    ELSE 'Withheld by staff; an earlier try may have sent it.' END`
  return (await transition(db, 'Withheld', where, Prisma.sql`, "LastError" = ${reason}, "DueAt" = NULL`)).length
}

export async function withholdAfterRestore(db: Pick<Db, '$queryRaw'>): Promise<number> {
  const change = Prisma.sql`, "LastError" = ${withheldByRestore.lastError}`
  return (await transition(db, 'Withheld', Prisma.sql`mail."Status" = 'Pending'`, change)).length
}
