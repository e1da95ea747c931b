import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { MailStatus } from '../database/generated/enums.ts'
import { transition } from '../mail/queue.ts'
import type { MailFilter } from '../mail/states.ts'

/* What `staff mails retry` and `staff mails withhold` do. */

/** Pending mails of a backup are withheld after a restore, because they may have been sent since the backup. */
export const withheldByRestore = {
  status: 'Withheld',
  lastError: 'restored from a backup: may have been sent since',
} as const satisfies MailFilter

export async function findIds(db: Db, where: MailFilter): Promise<bigint[]> {
  return (await db.mail.findMany({ where, select: { id: true }, orderBy: { id: 'asc' } })).map(({ id }) => id)
}

/** The mails with these ids, if they still have one of these states: the site sends meanwhile. */
function chosen(ids: bigint[], still: MailStatus[]): Prisma.Sql {
  return Prisma.sql`mail."Id" = ANY(${ids.map(String)}::bigint[]) AND mail."Status" = ANY(${still}::text[]::"Quvera_MailStatus"[])`
}

/**
 * Makes mails due now. A mail that Resend has taken, or may have taken, gets a new key, because Resend sends nothing under
 * the old one. Its `LastError` stays until the next try.
 * @returns how many are due
 */
export async function retryMails(db: Db, ids: bigint[], still: MailStatus[]): Promise<number> {
  const change = Prisma.sql`, "DueAt" = now(), "ReportedAt" = NULL, "ResendId" = NULL,
    "TriedAt" = CASE "Status" WHEN 'Pending' THEN "TriedAt" END,
    "LastError" = CASE "Status" WHEN 'Withheld' THEN NULL ELSE "LastError" END,
    "Key" = CASE WHEN "Status" = 'Unknown' OR "ResendId" IS NOT NULL THEN 'again/' || gen_random_uuid() ELSE "Key" END`
  return (await transition(db, 'Pending', chosen(ids, still), change)).length
}

/** @returns how many are withheld now */
export async function withholdMails(db: Db, ids: bigint[], still: MailStatus[]): Promise<number> {
  const reason = Prisma.sql`CASE WHEN "TriedAt" IS NULL THEN 'Not sent: withheld by staff.'
    ELSE 'Withheld by staff; an earlier try may have sent it.' END`
  const change = Prisma.sql`, "LastError" = ${reason}, "DueAt" = NULL`
  return (await transition(db, 'Withheld', chosen(ids, still), change)).length
}

export async function withholdAfterRestore(db: Pick<Db, '$queryRaw'>): Promise<number> {
  const change = Prisma.sql`, "LastError" = ${withheldByRestore.lastError}`
  return (await transition(db, 'Withheld', Prisma.sql`mail."Status" = 'Pending'`, change)).length
}
