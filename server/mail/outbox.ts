import type { Db } from '../database/database.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { type Env, publicUrlOf } from '../env.ts'
import { applyEvents, askDelivery } from './delivery.ts'
import { writeMessage } from './letters.ts'
import { backOffMs, type Loop, type LoopParts, RETRY_MAX_SECONDS, startLoop } from './loop.ts'
import { boundFuture, type ClaimedMail, claimBundle, claimMails, filters, settle, withholdOld } from './owed.ts'
import { readPlan, withholdReason } from './plan.ts'
import { createPace, type Mailer, type Outcome } from './resend.ts'
import { type Change, kinds, kindsTo } from './states.ts'

/*
 * In: rows of Quvera_Mail that say what we owe, and Resend's events. Out: mails through Resend, and in the same rows what
 * became of them. Read in this order: states.ts (what a mail can be), owed.ts (what is taken to be sent), plan.ts (what
 * may be sent now), outbox.ts (the looks, which loop.ts times, and one try), letters.ts (the words), resend.ts (all that
 * comes from Resend, and how fast it may be asked), delivery.ts (what became of it). posts.ts tells NOTIFY_URL by the same
 * table. by-hand.ts is what staff do to mails, digest.ts their daily page.
 */

/** What is written down of a try. */
interface Result {
  state: MailStatus
  change: Change
}

const ERASED: Result = { state: 'Withheld', change: { lastError: 'Not sent: the enquiries in it were erased.' } }
const UPKEEP_MS = 60_000
/** Resend remembers an idempotency key for 24 hours; an hour is left for clocks that differ and for the try itself. */
const KEY_LIFETIME_MS = 23 * 3_600_000
const TOO_LATE = 'An earlier try may have sent this mail; too long ago to try again without a second copy.'
const MISCONFIGURED_FACTOR = 12
const QUOTA_PAUSE_MS = 3_600_000

/**
 * Sends the mails that are owed: looks what may be sent now, takes it by a lease, sends it and writes down what came of
 * it. When this process dies another one takes a mail over after the lease, with the same idempotency key.
 */
export function startOutbox(db: Db, mailer: Mailer, env: Env, parts: LoopParts): Loop {
  const { log } = parts
  const { STAFF_EMAILS: staff, MAIL_LEASE_SECONDS: leaseSeconds } = env
  const publicUrl = publicUrlOf(env)
  const budget = { mails: env.MAIL_DAILY_BUDGET, staff: staff.length }
  const pace = createPace()
  const underWay = new Set<Promise<void>>()
  let check: Promise<void> | undefined
  let asksDelivery = !env.RESEND_WEBHOOK_SECRET
  // Only one process sends, so that the limits of Resend are one's to keep.
  const loop = startLoop(db, { name: 'sends mails', seconds: 5, look, underWay: () => [check, ...underWay] }, parts)
  let upkeepAt = Number.NEGATIVE_INFINITY
  let isPollOpen = false
  let plan: Awaited<ReturnType<typeof readPlan>> | undefined

  /** Starts the mails that are due, as far as there is room. Returns for how long it is too soon for more. */
  async function look(isPoll: boolean): Promise<number> {
    isPollOpen ||= isPoll
    if (isPoll && asksDelivery && underWay.size === 0) check ??= askSafely() // not waited for: mails do not wait for it
    if (performance.now() - upkeepAt > UPKEEP_MS) {
      upkeepAt = performance.now()
      await boundFuture(db)
      const enquiries = await withholdOld(db, env.MAIL_MAX_AGE_DAYS)
      if (enquiries > 0)
        log.error({ enquiries }, 'notices are too old to be sent, and staff were never told: see `staff mails`')
      await applyEvents(db, log)
    }
    if (room() > 0) await startAllowed()
    return pace.room(underWay.size).pauseMs
  }

  async function askSafely(): Promise<void> {
    const answer = await askDelivery(db, mailer, log, loop.stopping).catch(() => undefined) // the next look tells of it
    if (answer) pace.learn(answer.headers, underWay.size)
    if (answer) asksDelivery = !answer.forbidden
    check = undefined
  }

  /** What is rare is looked for once a second, and without a budget the plan too: an order asks for two kinds only. */
  async function startAllowed() {
    const isPoll = isPollOpen
    isPollOpen = false
    if (!plan || isPoll || budget.mails > 0) plan = await readPlan(db, budget)
    const { notices, suspected, bundle, toVisitors, asks } = plan
    const take = async (of: MailKind[], limit: number, filter?: typeof filters.all) =>
      start(await claimMails(db, of, Math.min(room(), limit), leaseSeconds, filter))
    let left = notices
    if (isPoll) {
      await take(kindsTo('staff'), room(), filters.unclear)
      left -= await take(['Digest'], left)
      left -= await take(['Staff'], Math.min(left, suspected), filters.suspected)
    }
    await take(['Staff'], left, filters.plain)
    if (isPoll && bundle) {
      await take(kindsTo('staff'), 1, filters.alone)
      if (room() > 0) start(await claimBundle(db, leaseSeconds))
    }
    const acknowledged = await take(['Acknowledgement'], toVisitors)
    // Without PUBLIC_URL its link would lead nowhere: it waits.
    if (isPoll && asks && env.PUBLIC_URL) await take(['Confirmation'], toVisitors - acknowledged)
  }

  function room(): number {
    return pace.room(underWay.size).mails
  }

  function start(mails: ClaimedMail[]): number {
    for (const mail of mails) {
      pace.started()
      const sending = deliver(mail)
        .catch((error) => log.error({ err: error, mail: mail.id }, 'a mail was not sent, or its outcome not recorded'))
        .finally(() => {
          underWay.delete(sending)
          loop.wake()
        })
      underWay.add(sending)
    }
    return mails.length
  }

  /** Sends a claimed mail once and writes down what came of it. */
  async function deliver(mail: ClaimedMail): Promise<void> {
    const message = writeMessage(mail, staff, publicUrl)
    let isSent = false
    try {
      const obstacle = message ? await obstacleTo(mail) : ERASED
      if (!message || obstacle) return await record(mail, obstacle ?? ERASED)
      isSent = true
    } finally {
      if (!isSent) pace.calledOff()
    }
    const { outcome, headers } = await mailer.send(message, loop.endOfTry(leaseSeconds))
    pace.learn(headers, underWay.size - 1)
    await record(mail, resultOf(mail, outcome), outcome)
  }

  async function obstacleTo(mail: ClaimedMail): Promise<Result | undefined> {
    const withheld = kinds[mail.kind].to === 'visitor' && (await withholdReason(db, mail))
    if (withheld) return { state: 'Withheld', change: { lastError: withheld, ambiguousAt: null } }
    const isTooLate = mail.ambiguousAt && Date.now() - mail.ambiguousAt.getTime() > KEY_LIFETIME_MS
    return isTooLate ? { state: 'Unknown', change: { lastError: TOO_LATE } } : undefined
  }

  function resultOf({ kind, ambiguousAt, attempts }: ClaimedMail, outcome: Outcome): Result {
    if (outcome.is === 'sent') {
      return { state: 'Sent', change: { resendId: outcome.resendId, sentAt: new Date(), lastError: null } }
    }
    const lastError = outcome.error
    // Anybody can type an address: nobody need do anything about one that is none.
    if (outcome.is === 'refused' && kind === 'Confirmation')
      return { state: 'Withheld', change: { lastError: `Resend refuses the address: ${lastError}`, ambiguousAt } }
    if (outcome.is === 'refused') return { state: 'Failed', change: { lastError, ambiguousAt } }
    if (outcome.is === 'ambiguous' && outcome.final) return { state: 'Unknown', change: { lastError } }
    const seconds = env.MAIL_RETRY_SECONDS
    const later = (waitMs: number) => ({ nextAttemptAt: new Date(Date.now() + waitMs), lastError })
    if (outcome.is === 'ambiguous') return { state: 'Pending', change: later(backOffMs(attempts, seconds)) }
    const waitMs = {
      throttled: outcome.retryAfterMs ?? seconds * 1000,
      misconfigured: Math.min(seconds * MISCONFIGURED_FACTOR, RETRY_MAX_SECONDS) * 1000,
      overQuota: QUOTA_PAUSE_MS,
    }[outcome.is]
    pace.pause(waitMs)
    return { state: 'Pending', change: { ...later(waitMs), ambiguousAt } }
  }

  async function record(mail: ClaimedMail, { state, change }: Result, outcome?: Outcome) {
    const { id, kind, attempts } = mail
    await settle(db, mail, state, change)
    if (state === 'Sent') return applyEvents(db, log)
    const reason = String(change.lastError).split(':')[0]
    const fields = { mail: id, kind, attempt: attempts, state, outcome: outcome?.is, reason }
    const isForGood = kinds[kind].alarm && (state === 'Failed' || state === 'Unknown')
    if (isForGood || reason?.includes('monthly_quota_exceeded'))
      log.error(fields, 'a mail was not sent, and staff may not know of an enquiry: see `staff mails`')
    else if (outcome) log.warn(fields, 'a mail was not sent')
  }

  return loop
}
