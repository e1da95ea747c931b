import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { transition } from '../mail/queue.ts'
import type { MailFilter } from '../mail/states.ts'

/* What staff do to mails by hand. */

/** What a restored database holds back, because it may have been sent since the backup. */
export const heldBack = {
  status: 'Withheld',
  lastError: 'restored from a backup: may have been sent since',
} as const satisfies MailFilter

export interface Retry {
  /** None: all. */
  ids: bigint[]
  includeUnknown: boolean
  /** Also those that a restored database holds back. */
  includeRestored: boolean
}

const named = (ids: bigint[]) => Prisma.sql`mail."Id" = ANY(${ids.map(String)}::bigint[])`

/** What a retry of all makes due. Notices that wait for a summary go on waiting for it. */
export function wouldBeDue({ includeUnknown, includeRestored }: Omit<Retry, 'ids'>): MailFilter {
  const unsent: MailFilter[] = [
    { status: 'Pending', dueAt: { not: null } },
    { status: { in: includeUnknown ? ['Failed', 'Unknown'] : ['Failed'] } },
  ]
  return { OR: includeRestored ? [...unsent, heldBack] : unsent }
}

/**
 * Makes mails due now. A second try of what Resend has taken, or may have taken, is deliberate: it has a key of its own,
 * for under the old one Resend would send nothing. The reason for which it was not sent stays until then.
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
      OR (${includeRestored} AND mail."Status" = 'Withheld' AND mail."LastError" = ${heldBack.lastError}))`,
    Prisma.sql`, "DueAt" = now(), "ResendId" = NULL,
      "TriedAt" = CASE "Status" WHEN 'Pending' THEN "TriedAt" END,
      "LastError" = CASE "Status" WHEN 'Withheld' THEN NULL ELSE "LastError" END,
      "Key" = CASE WHEN "Status" = 'Unknown' OR "ResendId" IS NOT NULL THEN 'again/' || gen_random_uuid() ELSE "Key" END`,
  )
  const where: MailFilter = { status: 'Unknown', ...(!all && { id: { in: ids } }) }
  return { due: due.length, left: includeUnknown ? 0 : await db.mail.count({ where }) }
}

/** Says that mails are not to be sent: those named, or all that wait and are about enquiries received before. */
export async function withholdMails(db: Db, these: { ids: bigint[] } | { before: Date }): Promise<number> {
  const where =
    'ids' in these
      ? named(these.ids)
      : Prisma.sql`mail."Status" = 'Pending' AND EXISTS (
          SELECT FROM "Quvera_Form" form WHERE form."Id" = mail."EnquiryId" AND form."ReceivedAt" < ${these.before})`
  const reason = Prisma.sql`CASE WHEN "TriedAt" IS NULL THEN 'Not sent: withheld by staff.'
    ELSE 'Withheld by staff; an earlier try may have sent it.' END`
  return (await transition(db, 'Withheld', where, Prisma.sql`, "LastError" = ${reason}, "DueAt" = NULL`)).length
}

/** Of a database that was just restored: its pending mails may have been sent since the backup. */
export async function holdBack(db: Pick<Db, '$queryRaw'>): Promise<number> {
  const change = Prisma.sql`, "LastError" = ${heldBack.lastError}`
  return (await transition(db, 'Withheld', Prisma.sql`mail."Status" = 'Pending'`, change)).length
}
