import type { Db } from '../database/database.ts'
import { heldBack } from '../mail/delivered.ts'
import { count } from '../words.ts'

/** Resend has this key with another content: an earlier try may have been sent, so it counts as unknown. */
const OTHER_CONTENT = '409 '

export interface Retry {
  /** None: all. */
  ids: bigint[]
  includeUnknown: boolean
  /** Also those that a restored database holds back. */
  includeRestored: boolean
  hasKey: boolean
}

export async function retryMails(db: Db, { ids, includeUnknown, includeRestored, hasKey }: Retry): Promise<void> {
  const named = ids.length > 0 ? { id: { in: ids } } : {}
  const doubtful = {
    OR: [{ status: 'Unknown' as const }, { status: 'Failed' as const, lastError: { startsWith: OTHER_CONTENT } }],
  }
  const due = { status: 'Pending' as const, nextAttemptAt: new Date(), lastError: null }
  const { count: waiting } = await db.mail.updateMany({
    where: { ...named, status: 'Pending' },
    data: { nextAttemptAt: due.nextAttemptAt },
  })
  const { count: failed } = await db.mail.updateMany({
    where: {
      ...named,
      status: 'Failed',
      OR: [{ lastError: null }, { NOT: { lastError: { startsWith: OTHER_CONTENT } } }],
    },
    data: { ...due, ambiguousAt: null },
  })
  const { count: unknown } = includeUnknown
    ? await db.mail.updateMany({ where: { ...named, ...doubtful }, data: { ...due, ambiguousAt: null } })
    : { count: 0 }
  const { count: restored } = includeRestored
    ? await db.mail.updateMany({ where: { ...named, ...heldBack }, data: due })
    : { count: 0 }
  const made = waiting + failed + unknown + restored
  const fate = hasKey
    ? 'the running site sends them'
    : 'but RESEND_API_KEY is not set here: nothing is sent until the site runs with one'
  console.log(`${count(made, 'mail is', 'mails are')} due now; ${fate}.`)

  const left = includeUnknown ? 0 : await db.mail.count({ where: { ...named, ...doubtful } })
  if (left > 0) {
    console.log(
      `Left: ${count(left, 'mail', 'mails')} that may have been sent already. See Resend's log, then --include-unknown.`,
    )
  }
  const others = ids.length - made - left
  if (others > 0) console.log(`Left: ${count(others, 'mail', 'mails')} that are sent, withheld or not there.`)
}
