import type { Db } from '../database/database.ts'
import { kinds } from '../mail/kinds.ts'
import { MAY_GO_TO_CORRECTED } from '../mail/of-enquiry.ts'
import { MAY_SEND_AGAIN } from '../mail/queue.ts'
import { states as mailStates, withheldReasons } from '../mail/states.ts'

/* The mails of an enquiry, in words for staff. */

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

export async function readMailsOf(db: Db, id: string) {
  const mails = await db.$queryRaw<ShownMail[]>`
    SELECT mail."Id"::text AS "id", mail."Kind"::text AS "kind", mail."To" AS "to", mail."Status"::text AS "status",
      coalesce(mail."SentAt", mail."FirstTriedAt", mail."QueuedAt") AS "at", mail."WithheldBecause"::text AS "because",
      mail."LastError" AS "lastError", (${MAY_SEND_AGAIN} OR ${MAY_GO_TO_CORRECTED}) IS TRUE AS "maySendAgain"
    FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = ${id}::uuid ORDER BY mail."Id"`
  return mails.map(({ id, kind, to, status, at, because, lastError, maySendAgain }) => {
    const reason = because ? (reasons[because] ?? because) : ['Sent', 'Delivered'].includes(status) ? '' : lastError
    const what = `${kindNames[kind]?.one ?? kind}${to ? ` to ${to}` : ''} ${meanings[status]?.means ?? `is ${status}`}`
    // the notice to ravi@shop.example was rejected by the mail server of its receiver: 550 no such mailbox
    const means = reason ? `${what}: ${reason}` : what
    return { id, kind, ...(to && { to }), status, means, at: at.toISOString(), maySendAgain }
  })
}
