import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import type { MailKind } from '../database/generated/enums.ts'
import { releaseLease, takeLease } from '../database/lease.ts'
import { type Env, publicUrlOf } from '../env.ts'
import { isRefusal } from '../errors.ts'
import { readBacklog } from './backlog.ts'
import { applyEvents, askDelivery } from './delivery.ts'
import { queueIfDue } from './digest.ts'
import { writeMessage } from './letters.ts'
import {
  boundFuture,
  type ClaimedMail,
  claimBundle,
  claimMails,
  filters,
  type Result,
  resultOf,
  settle,
  withholdOld,
} from './owed.ts'
import { readPlan, withholdReason } from './plan.ts'
import { deliverPost } from './posts.ts'
import { createMailer, createPace, type Outcome } from './resend.ts'
import { kinds, kindsTo, mailKinds } from './states.ts'

/*
 * In: rows of Quvera_Mail that say what we owe. Out: mails through Resend and posts to NOTIFY_URL, and in the same rows
 * what became of them. Read in this order: states.ts (what a mail can be), owed.ts (what is taken to be sent), plan.ts
 * (what may be sent now), outbox.ts (when, and one try), letters.ts (the words), resend.ts (all that comes from Resend, and
 * how fast it may be asked). delivery.ts is what Resend tells later, posts.ts is one post, by-hand.ts what staff do to
 * mails, digest.ts their daily page.
 */

export interface OutboxParts {
  availability: Availability
  log: Logger
  /** How often to look for what is owed, unless woken before: POLL_MS unless given. */
  pollMs?: number | undefined
}

/** Resend remembers an idempotency key for 24 hours; an hour is left for clocks that differ and for the try itself. */
const KEY_LIFETIME_MS = 23 * 3_600_000
const ERASED: Result = { state: 'Withheld', change: { lastError: 'Not sent: the enquiries in it were erased.' } }
const LEASE_SECONDS = 5
const POLL_MS = 1000
const UPKEEP_MS = 60_000
const TRY_TIMEOUT_MS = 10_000
const TOO_LATE = 'An earlier try may have sent this mail; too long ago to try again without a second copy.'

/**
 * Sends what is owed: looks what may be sent now, takes it by a lease, sends it and writes down what came of it. Of all
 * processes one does so at a time, so that the limits of Resend are one's to keep. When it dies another one takes its
 * mails over after their leases, with the same idempotency keys. Mails and posts do not wait for each other.
 */
export function startOutbox(db: Db, env: Env, { availability, log, pollMs = POLL_MS }: OutboxParts) {
  const { RESEND_API_KEY: apiKey, RESEND_BASE_URL: baseUrl, MAIL_FROM: from, NOTIFY_URL: notifyUrl } = env
  const { STAFF_EMAILS: staff, MAIL_LEASE_SECONDS: leaseSeconds } = env
  const sent = [...(apiKey ? mailKinds : []), ...(notifyUrl ? kindsTo('program') : [])]
  const mailer = createMailer({ apiKey: apiKey || 'none: it is not used', baseUrl, from })
  // One without a key must not keep mails from one that has it.
  const lease = apiKey ? 'sends mails' : 'posts'
  const publicUrl = publicUrlOf(env)
  const budget = { mails: env.MAIL_DAILY_BUDGET, staff: staff.length }
  const pace = createPace()
  const holder = randomUUID()
  const stopping = new AbortController()
  const graceIsOver = new AbortController()
  const underWay = new Set<Promise<void>>()
  let woken = new AbortController()
  const wake = () => woken.abort()
  let isMine = false
  let askedAt = Number.NEGATIVE_INFINITY
  let upkeepAt = Number.NEGATIVE_INFINITY
  let lookFails = false
  let isPollOpen = false
  let plan: Awaited<ReturnType<typeof readPlan>> | undefined
  let asksDelivery = !env.RESEND_WEBHOOK_SECRET
  let check: Promise<void> | undefined
  /** What an earlier NOTIFY_URL did not take is withheld. */
  let isTidy = false
  let posting: Promise<void> | undefined
  let postsPausedUntil = Number.NEGATIVE_INFINITY

  /** One look at a time: at once, when it is woken, and from then on at each poll. */
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = new AbortController()
      const pauseMs = await lookSafely()
      if (stopping.signal.aborted) return
      if (pauseMs > 0) woken = new AbortController() // whatever came during the look comes too soon
      const waited = sleep(Math.min(pauseMs || pollMs, pollMs), undefined, { signal: woken.signal })
      await waited.catch(() => undefined)
    }
  }

  async function lookSafely(): Promise<number> {
    try {
      const now = performance.now()
      const isPoll = now - askedAt >= pollMs
      if (isPoll) isMine = await takeLease(db, lease, holder, LEASE_SECONDS)
      if (isPoll) askedAt = now
      const pauseMs = isMine ? await look(isPoll) : pollMs
      lookFails = false
      return pauseMs
    } catch (error) {
      if (!lookFails) {
        if (isRefusal(error)) log.error({ err: error }, 'the outbox cannot work: mails wait')
        else availability.failed(error)
      }
      lookFails = true
      return pollMs
    }
  }

  /** Starts what is due, as far as there is room. Returns for how long it is too soon for more. */
  async function look(isPoll: boolean): Promise<number> {
    isPollOpen ||= isPoll
    if (performance.now() - upkeepAt > UPKEEP_MS) {
      upkeepAt = performance.now()
      await keepUp()
    }
    if (notifyUrl && isTidy && !posting && performance.now() >= postsPausedUntil) {
      const [due] = await claimMails(db, ['Post'], 1, leaseSeconds)
      if (due) posting = post(notifyUrl, due) // one at a time, as chats want it
    }
    if (!apiKey) return 0
    if (isPoll && asksDelivery && underWay.size === 0) check ??= askSafely() // mails do not wait for it
    if (room() > 0) await startAllowed()
    return pace.room(underWay.size).pauseMs
  }

  async function keepUp() {
    await boundFuture(db)
    const enquiries = await withholdOld(db, env.MAIL_MAX_AGE_DAYS, sent)
    isTidy = true
    if (enquiries > 0)
      log.error({ enquiries }, 'notices are too old to be sent, and staff were never told: see `staff mails`')
    if (!apiKey) return
    await applyEvents(db, log)
    if (env.DIGEST_AT)
      await queueIfDue(db, env.DIGEST_AT, new Date()).then(
        (isQueued) => isQueued && log.info('the digest of the day is queued for staff'),
        (error) => log.error({ err: error }, 'the digest could not be written; it is tried again in a minute'),
      )
    await warnIfOverdue()
  }

  async function warnIfOverdue() {
    const backlog = await readBacklog(db).catch(() => undefined) // what cannot be read is told by whoever needs it
    const { overdue, oldestPendingSeconds, pending } = backlog ?? {}
    if (overdue) log.warn({ oldestPendingSeconds, pending }, 'mails wait longer than they should')
  }

  async function askSafely(): Promise<void> {
    const answer = await askDelivery(db, mailer, log, stopping.signal).catch(() => undefined) // the next look tells of it
    if (answer) pace.learn(answer.headers, underWay.size)
    if (answer) asksDelivery = !answer.forbidden
    check = undefined
  }

  async function post(url: string, mail: ClaimedMail): Promise<void> {
    const pauseMs = await deliverPost(db, env, url, mail, endOfTry(), log).catch((error) => {
      log.error({ err: error, mail: mail.id }, 'what became of a post was not recorded')
      return pollMs
    })
    postsPausedUntil = performance.now() + pauseMs
    posting = undefined
    wake()
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
          wake()
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
    const { outcome, headers } = await mailer.send(message, endOfTry())
    pace.learn(headers, underWay.size - 1)
    const result = resultOf(mail, outcome, env.MAIL_RETRY_SECONDS)
    if (result.pauseMs) pace.pause(result.pauseMs)
    await record(mail, result, outcome)
  }

  /** A try ends while what it took is still ours, and after the grace of `stop`. */
  function endOfTry(): AbortSignal {
    const timeout = AbortSignal.timeout(Math.min(TRY_TIMEOUT_MS, leaseSeconds * 500))
    return AbortSignal.any([graceIsOver.signal, timeout])
  }

  async function obstacleTo(mail: ClaimedMail): Promise<Result | undefined> {
    const withheld = kinds[mail.kind].to === 'visitor' && (await withholdReason(db, mail))
    if (withheld) return { state: 'Withheld', change: { lastError: withheld, ambiguousAt: null } }
    const isTooLate = mail.ambiguousAt && Date.now() - mail.ambiguousAt.getTime() > KEY_LIFETIME_MS
    return isTooLate ? { state: 'Unknown', change: { lastError: TOO_LATE } } : undefined
  }

  async function record(mail: ClaimedMail, result: Result, outcome?: Outcome) {
    const { id, kind, attempts } = mail
    const { state, change } = result
    await settle(db, mail, result)
    if (state === 'Sent') return applyEvents(db, log)
    const reason = String(change.lastError).split(':')[0]
    const fields = { mail: id, kind, attempt: attempts, state, outcome: outcome?.is, reason }
    const isForGood = kinds[kind].alarm && (state === 'Failed' || state === 'Unknown')
    if (isForGood || reason?.includes('monthly_quota_exceeded'))
      log.error(fields, 'a mail was not sent, and staff may not know of an enquiry: see `staff mails`')
    else if (outcome) log.warn(fields, 'a mail was not sent')
  }

  const running = sent.length > 0 ? run() : undefined
  if (!apiKey) warnIfOverdue() // without a key nothing changes until the next start
  if (notifyUrl) log.info(`enquiries are also posted to ${new URL(notifyUrl).origin}`)
  return {
    /** Looks for what is due now instead of at the next poll. Never throws. */
    wake,
    /** Ends once what is under way has an outcome, or `graceMs` have passed. */
    async stop(graceMs: number) {
      stopping.abort()
      wake()
      // What its last look began is under way too.
      const ended = Promise.resolve(running).then(() => Promise.allSettled([check, posting, ...underWay]))
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
      graceIsOver.abort()
      await ended
      if (running) await releaseLease(db, lease, holder).catch(() => undefined) // it ends by itself
    },
  }
}
