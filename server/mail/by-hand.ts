import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { bundle, heldBack, type MailFilter, move, own } from './states.ts'

/* What staff do to mails by hand. A notice that goes along in a bundle is sent, or not, with that. */

export interface Retry {
  /** None: all. */
  ids: bigint[]
  includeUnknown: boolean
  /** Also those that a restored database holds back. */
  includeRestored: boolean
}

/** What a retry of all makes due. */
export function wouldBeDue({ includeUnknown, includeRestored }: Omit<Retry, 'ids'>): MailFilter {
  const unsent: MailFilter = { status: { in: ['Pending', 'Failed', ...(includeUnknown ? ['Unknown' as const] : [])] } }
  return { ...own, OR: includeRestored ? [unsent, heldBack] : [unsent] }
}

/**
 * Makes mails due now. A second try of what Resend has taken, or may have taken, is deliberate: it has a key of its own,
 * for under the old one Resend would send nothing. The reason for which it was not sent stays until then.
 * @returns how many are due, and how many were left because they may have been sent
 */
export async function retryMails(db: Db, { ids, includeUnknown, includeRestored }: Retry) {
  const along = ids.length > 0 ? await db.mail.findMany({ where: { id: { in: ids }, NOT: own } }) : []
  const named = [...ids, ...along.map(({ bundledInto }) => bundledInto ?? 0n)]
  const chosen: MailFilter = ids.length > 0 ? { ...own, id: { in: named } } : own
  const idsOf = async (where: MailFilter) =>
    (await db.mail.findMany({ where: { AND: [chosen, where] }, select: { id: true } })).map(({ id }) => id)
  const nextAttemptAt = new Date()
  const unsent: MailFilter = { status: { in: includeUnknown ? ['Failed', 'Unknown'] : ['Failed'] } }
  const counts = [
    await move(db, { ...chosen, status: 'Pending' }, 'Pending', { nextAttemptAt }),
    includeRestored ? await move(db, { ...chosen, ...heldBack }, 'Pending', { nextAttemptAt, lastError: null }) : 0,
    await dissolve(db, await idsOf({ ...bundle, ...unsent })),
    await sendAgain(db, await idsOf({ NOT: bundle, ...unsent })),
  ]
  return {
    due: counts.reduce((sum, count) => sum + count),
    left: includeUnknown ? 0 : await db.mail.count({ where: { ...chosen, status: 'Unknown' } }),
  }
}

async function sendAgain(db: Db, ids: bigint[]): Promise<number> {
  if (ids.length === 0) return 0
  return db.$executeRaw`
    UPDATE "Quvera_Mail" SET "Status" = 'Pending', "NextAttemptAt" = now(), "AmbiguousAt" = NULL,
      "ResendId" = NULL, "CheckedAt" = NULL,
      "Key" = CASE WHEN "Status" = 'Failed' AND "ResendId" IS NULL THEN "Key" ELSE 'again/' || gen_random_uuid() END
    WHERE "Id" IN (${Prisma.join(ids)}) AND "Status" IN ('Failed', 'Unknown')`
}

/** The notices of a bundle that was not sent go out anew, by themselves or in another one. */
async function dissolve(db: Db, ids: bigint[]): Promise<number> {
  if (ids.length === 0) return 0
  const anew = {
    bundledInto: null,
    nextAttemptAt: new Date(),
    attempts: 0,
    sentAt: null,
    ambiguousAt: null,
  }
  const [{ count }] = await db.$transaction([
    db.mail.updateMany({ where: { bundledInto: { in: ids } }, data: { ...anew, status: 'Pending' } }),
    db.mail.updateMany({
      where: { id: { in: ids } },
      data: { status: 'Withheld', lastError: 'Not sent again: its notices go out anew.' },
    }),
  ])
  return count
}

/** Says that mails are not to be sent: those named, or all that wait and are about enquiries received before. */
export async function withholdMails(db: Db, these: { ids: bigint[] } | { before: Date }): Promise<number> {
  const chosen: MailFilter =
    'ids' in these
      ? { ...own, id: { in: these.ids } }
      : {
          ...own,
          status: 'Pending',
          OR: [
            { enquiry: { receivedAt: { lt: these.before } } },
            { ...bundle, bundled: { every: { enquiry: { receivedAt: { lt: these.before } } } } },
          ],
        }
  const tried = 'Withheld by staff; an earlier try may have sent it.'
  return (
    (await move(db, { ...chosen, ambiguousAt: { not: null } }, 'Withheld', { lastError: tried })) +
    (await move(db, { ...chosen, ambiguousAt: null }, 'Withheld', { lastError: 'Not sent: withheld by staff.' }))
  )
}
