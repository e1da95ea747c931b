import type { Db } from '../database/database.ts'
import type { Enquiry } from '../database/enquiry.ts'
import { kinds, kindsToVisitor } from '../mail/kinds.ts'
import { IS_NEWEST, MAY_GO_TO_CORRECTED } from '../mail/of-enquiry.ts'
import { MAY_SEND_AGAIN } from '../mail/queue.ts'
import { states as mailStates, withheldReasons } from '../mail/states.ts'

/* The mails of an enquiry, in words for staff. */

/** What the tables of mail/ say; a value of a newer version is missing there. */
const kindNames: Partial<Record<string, { one: string }>> = kinds
export const toVisitor: string[] = kindsToVisitor
const meanings: Partial<Record<string, { means: string }>> = mailStates
const reasons: Partial<Record<string, string>> = withheldReasons

/** Why a mail is not sent again, by its state or why it was withheld. Resend skips addresses that bounced or complained. */
const hindrances: Partial<Record<string, string>> = {
  Bounced: 'Sent again to the same address it would not arrive either.',
  Complained: 'Nothing more is sent to whoever marked it as spam.',
  Failed: 'A mail of this kind is not sent again.',
  Unknown: 'A mail of this kind is not sent again.',
  ByStaff: 'It can be sent once the enquiry is marked as not spam.',
  ThreeADay: 'It can be sent again a day later.',
  NotTheirs: 'It can be sent once the address is corrected.',
}

interface ShownMail {
  id: string
  kind: string
  to: string | null
  status: string
  at: Date
  because: string | null
  lastError: string | null
  maySendAgain: boolean
  isNewest: boolean
}

export async function readMailsOf(db: Db, { id, email, suspectedSpam }: Enquiry) {
  const mails = await db.$queryRaw<ShownMail[]>`
    SELECT mail."Id"::text AS "id", mail."Kind"::text AS "kind", mail."To" AS "to", mail."Status"::text AS "status",
      coalesce(mail."SentAt", mail."FirstTriedAt", mail."QueuedAt") AS "at", mail."WithheldBecause"::text AS "because",
      mail."LastError" AS "lastError", (${MAY_SEND_AGAIN} OR ${MAY_GO_TO_CORRECTED}) IS TRUE AS "maySendAgain",
      (mail."To" IS NOT NULL OR ${IS_NEWEST}) AS "isNewest"
    FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = ${id}::uuid ORDER BY mail."Id"`
  return mails.map((mail) => {
    const { id, kind, to, status, at, maySendAgain, isNewest } = mail
    // What a newer one replaces needs no word.
    const whyNot = maySendAgain || !isNewest ? undefined : hindranceOf(mail, suspectedSpam)
    const means = meaningOf({ ...mail, ...wordsInstead(mail, email) })
    const shown = { id, kind, ...(to && { to }), status, means, at: at.toISOString(), maySendAgain }
    return { ...shown, ...(whyNot && { whyNot }) }
  })
}

/** What stands in place of the stored values: where a mail that waits goes. One to a visitor that another has replaced went to an address that is corrected. */
function wordsInstead({ kind, status, because, isNewest }: ShownMail, email: string) {
  if (status === 'Pending' && toVisitor.includes(kind)) return { to: email }
  return because === 'NotTheirs' && !isNewest ? { because: 'the address was corrected' } : {}
}

type Told = Pick<ShownMail, 'kind' | 'to' | 'status' | 'because' | 'lastError'>

/** `the notice to ravi@shop.example was rejected by the mail server of its receiver: 550 no such mailbox` */
export function meaningOf({ kind, to, status, because, lastError }: Told): string {
  const fault = ['Sent', 'Delivered'].includes(status) ? '' : lastError
  const reason = because ? (reasons[because] ?? because) : fault
  const what = `${kindNames[kind]?.one ?? kind}${to ? ` to ${to}` : ''} ${meanings[status]?.means ?? `is ${status}`}`
  return reason ? `${what}: ${reason}` : what
}

function hindranceOf({ kind, to, status, because }: ShownMail, isSpam: boolean): string | undefined {
  const isStopped = ['Failed', 'Unknown', 'Withheld'].includes(status)
  if (isStopped && isSpam && kind === 'Acknowledgement') return hindrances.ByStaff
  const advice = to ? 'Tell the operator.' : 'Correct the address, or ring.'
  const words = hindrances[because ?? status]
  return status === 'Bounced' ? `${words} ${advice}` : words
}
