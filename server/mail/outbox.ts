import { randomUUID } from 'node:crypto'
import type { Db } from '../database/database.ts'
import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { releaseLease, takeLease } from '../database/lease.ts'
import { type Env, publicUrlOf } from '../env.ts'
import { applyEvents, createDeliveryCheck, forgetOldEvents } from './delivery.ts'
import { writeMessage } from './letters.ts'
import { backOffMs, type LoopParts, POLL_MS, RETRY_MAX_SECONDS, startLoop } from './loop.ts'
import { boundFuture, type ClaimedMail, claimBundle, claimMails, filters, withholdOld } from './owed.ts'
import { createPace } from './pace.ts'
import { readPlan, withholdReason } from './plan.ts'
import type { Mailer, Message, Outcome } from './resend.ts'
import { type Change, kinds, kindsTo, move } from './states.ts'

export interface Outbox {
  /** Orders were stored: looks for due mails now instead of at the next poll. Never throws. */
  wake(): void
  /** Ends once the mails under way have an outcome, or `graceMs` have passed. */
  stop(graceMs: number): Promise<void>
}

/** What is written down of a try. */
interface Result {
  state: MailStatus
  change: Change
}

const UPKEEP_MS = 60_000
/** Only one process sends, so that the limits of Resend are one's to keep. Another one takes over after so long. */
const SENDER = 'sends mails'
const SENDER_SECONDS = 5
const SEND_TIMEOUT_MS = 10_000
/** Resend remembers an idempotency key for 24 hours; an hour is left for clocks that differ and for the try itself. */
const KEY_LIFETIME_MS = 23 * 3_600_000
const TOO_LATE = 'An earlier try may have sent this mail; too long ago to try again without a second copy.'
const MISCONFIGURED_FACTOR = 12
const QUOTA_PAUSE_MS = 3_600_000

/**
 * Sends the mails that are owed: looks what may be sent now, takes it by a lease, sends it and writes down what came of
 * it. When this process dies another one takes a mail over after the lease, with the same idempotency key.
 */
export function startOutbox(db: Db, mailer: Mailer, env: Env, parts: LoopParts): Outbox {
  const { log, pollMs = POLL_MS } = parts
  const { STAFF_EMAILS: staff, MAIL_LEASE_SECONDS: leaseSeconds } = env
  const publicUrl = publicUrlOf(env)
  const budget = { mails: env.MAIL_DAILY_BUDGET, staff: staff.length }
  const holder = randomUUID()
  const pace = createPace()
  const stopping = new AbortController()
  const checkDelivery = env.RESEND_WEBHOOK_SECRET
    ? undefined
    : createDeliveryCheck(db, mailer, (headers) => pace.learn(headers, underWay.size), log, stopping.signal)
  const loop = startLoop(look, parts)
  let check: Promise<void> | undefined
  const underWay = new Set<Promise<void>>()
  let sender = { is: false, askedAt: Number.NEGATIVE_INFINITY }
  let upkeepAt = Number.NEGATIVE_INFINITY
  let polledAt = Number.NEGATIVE_INFINITY
  let plan: Awaited<ReturnType<typeof readPlan>> = {
    notices: 0,
    suspected: 0,
    bundle: false,
    toVisitors: 0,
    asks: false,
  }

  /** Starts the mails that are due, as far as there is room. Returns for how long it is too soon for more. */
  async function look(): Promise<number> {
    if (!(await isSender())) return pollMs
    if (performance.now() - upkeepAt > UPKEEP_MS) {
      upkeepAt = performance.now()
      await boundFuture(db)
      const enquiries = await withholdOld(db, env.MAIL_MAX_AGE_DAYS)
      if (enquiries > 0)
        log.error({ enquiries }, 'notices are too old to be sent, and staff were never told: see `staff mails`')
      await applyEvents(db, log)
      await forgetOldEvents(db)
    }
    if (room() > 0) await startAllowed()
    return pace.room(underWay.size).pauseMs
  }

  /** Asked of the database once a second, however often orders come. */
  async function isSender(): Promise<boolean> {
    if (performance.now() - sender.askedAt < pollMs) return sender.is
    const askedAt = performance.now()
    sender = { is: await takeLease(db, SENDER, holder, SENDER_SECONDS), askedAt }
    if (sender.is && underWay.size === 0) check = checkDelivery?.() // not waited for: mails do not wait for it
    return sender.is
  }

  /** What is rare is looked for once a second, and without a budget the plan too: an order asks for two kinds only. */
  async function startAllowed() {
    const isPoll = performance.now() - polledAt > pollMs
    if (isPoll) polledAt = performance.now()
    if (isPoll || budget.mails > 0) plan = await readPlan(db, budget)
    const { notices, suspected, bundle, toVisitors } = plan
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
    if (isPoll && plan.asks && env.PUBLIC_URL) await take(['Confirmation'], toVisitors - acknowledged)
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
      const obstacle = await obstacleTo(mail, message)
      if (obstacle || !message) return await record(mail, obstacle)
      isSent = true
    } finally {
      if (!isSent) pace.calledOff()
    }
    const timeout = AbortSignal.timeout(Math.min(SEND_TIMEOUT_MS, leaseSeconds * 500))
    const { outcome, headers } = await mailer.send(message, AbortSignal.any([loop.graceIsOver, timeout]))
    pace.learn(headers, underWay.size - 1)
    await record(mail, resultOf(mail, outcome), outcome)
  }

  async function obstacleTo(mail: ClaimedMail, message: Message | undefined): Promise<Result | undefined> {
    if (!message) return { state: 'Withheld', change: { lastError: 'Not sent: the enquiries in it were erased.' } }
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
    const waitMs = retryAfterMs(outcome, attempts)
    const again = { nextAttemptAt: new Date(Date.now() + waitMs), lastError }
    if (outcome.is === 'ambiguous') return { state: 'Pending', change: again }
    pace.pause(waitMs)
    return { state: 'Pending', change: { ...again, ambiguousAt } }
  }

  function retryAfterMs({ is, retryAfterMs }: Failure, attempts: number): number {
    const seconds = env.MAIL_RETRY_SECONDS
    if (is === 'throttled') return retryAfterMs ?? seconds * 1000
    if (is === 'misconfigured') return Math.min(seconds * MISCONFIGURED_FACTOR, RETRY_MAX_SECONDS) * 1000
    if (is === 'overQuota') return QUOTA_PAUSE_MS
    return backOffMs(attempts, seconds)
  }

  /** Unless another process has taken the mail over meanwhile: then its try counts. */
  async function record({ id, kind, attempts }: ClaimedMail, result: Result | undefined, outcome?: Outcome) {
    if (!result) return
    const { state, change } = result
    await move(db, { id, attempts, status: 'Pending' }, state, change)
    if (state === 'Sent') return applyEvents(db, log)
    const reason = String(change.lastError).split(':')[0]
    const fields = { mail: id, kind, attempt: attempts, state, outcome: outcome?.is, reason }
    const isForGood = kinds[kind].alarm && (state === 'Failed' || state === 'Unknown')
    if (isForGood || reason?.includes('monthly_quota_exceeded'))
      log.error(fields, 'a mail was not sent, and staff may not know of an enquiry: see `staff mails`')
    else if (outcome) log.warn(fields, 'a mail was not sent')
  }

  loop.wake()
  return {
    wake: loop.wake,
    async stop(graceMs) {
      stopping.abort()
      await loop.stop(graceMs, () => [check, ...underWay]) // what its last look claims is under way too
      await releaseLease(db, SENDER, holder).catch(() => undefined) // it ends by itself
    },
  }
}

type Failure = Exclude<Outcome, { is: 'sent' }> & { retryAfterMs?: number }
