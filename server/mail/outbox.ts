import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import type { MailKind } from '../database/generated/enums.ts'
import { releaseLease, takeLease } from '../database/lease.ts'
import { sqlState } from '../errors.ts'
import { applyEvents, createDeliveryCheck } from './delivery.ts'
import { writeMessage } from './letters.ts'
import { type ClaimedMail, claimBundle, claimMails, which, withholdOld } from './owed.ts'
import { createPace } from './pace.ts'
import { type Plan, readPlan, withholdReason } from './plan.ts'
import type { Mailer, Outcome } from './resend.ts'
import { kinds, kindsTo, move } from './states.ts'

export interface Outbox {
  /** Orders were stored: looks for due mails now instead of at the next poll. Never throws. */
  wake(): void
  /** Ends once the mails under way have an outcome, or `graceMs` have passed. */
  stop(graceMs: number): Promise<void>
}

export interface OutboxOptions {
  /** Who is told of an enquiry. */
  staff: string[]
  leaseSeconds: number
  retrySeconds: number
  /** Mails in 24 hours, one for each receiver; 0 for no limit. */
  dailyBudget: number
  maxAgeDays: number
  /** Whether Resend tells by itself what became of mails. */
  toldOfDelivery: boolean
  availability: Availability
  log: Pick<Logger, 'error' | 'warn' | 'info'>
}

const POLL_MS = 1000
const UPKEEP_MS = 60_000
/** Only one process sends, so that the limits of Resend are one's to keep. Another one takes over after so long. */
const SENDER = 'sends mails'
const SENDER_SECONDS = 5
const SEND_TIMEOUT_MS = 10_000
/** Resend remembers an idempotency key for 24 hours; an hour is left for clocks that differ and for the try itself. */
const KEY_LIFETIME_MS = 23 * 3_600_000
const TOO_LATE = 'An earlier try may have sent this mail; too long ago to try again without a second copy.'
const RETRY_MAX_SECONDS = 300
const MISCONFIGURED_FACTOR = 12
const QUOTA_PAUSE_MS = 3_600_000

/**
 * Sends the mails that are owed: looks what may be sent now, takes it by a lease, sends it and writes down what came of
 * it. When this process dies another one takes a mail over after the lease, with the same idempotency key.
 */
export function startOutbox(db: Db, mailer: Mailer, options: OutboxOptions): Outbox {
  const { availability, log, staff, leaseSeconds } = options
  const holder = randomUUID()
  const pace = createPace()
  const stopping = new AbortController()
  const sendingEnds = new AbortController()
  const checkDelivery = options.toldOfDelivery ? undefined : createDeliveryCheck(db, mailer, pace, log, stopping.signal)
  let check: Promise<void> | undefined
  const underWay = new Set<Promise<void>>()
  let looking = false
  let lookAgain = false
  let lookFails = false
  let lastLook: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let sender = { is: false, askedAt: Number.NEGATIVE_INFINITY }
  let upkeepAt = Number.NEGATIVE_INFINITY

  function wake() {
    lookAgain = true
    if (looking || stopping.signal.aborted) return
    looking = true
    lookAgain = false
    clearTimeout(timer)
    lastLook = lookSafely().then((pauseMs) => {
      looking = false
      if (stopping.signal.aborted) return
      if (lookAgain && pauseMs === 0) wake()
      else timer = setTimeout(wake, Math.min(pauseMs || POLL_MS, POLL_MS))
    })
  }

  async function lookSafely(): Promise<number> {
    try {
      const pauseMs = await look()
      lookFails = false
      return pauseMs
    } catch (error) {
      if (!lookFails) {
        if (isRefusal(error)) log.error({ err: error }, 'the outbox cannot work: mails wait')
        else availability.failed(error)
      }
      lookFails = true
      return POLL_MS
    }
  }

  /** Starts the mails that are due, as far as there is room. Returns for how long it is too soon for more. */
  async function look(): Promise<number> {
    if (!(await isSender())) return POLL_MS
    await keepUp()
    if (room() > 0) await startAllowed(await readPlan(db, { mails: options.dailyBudget, staff: staff.length }))
    return pace.room(underWay.size).pauseMs
  }

  /** Asked of the database once a second, however often orders come. */
  async function isSender(): Promise<boolean> {
    if (performance.now() - sender.askedAt < POLL_MS) return sender.is
    const askedAt = performance.now()
    sender = { is: await takeLease(db, SENDER, holder, SENDER_SECONDS), askedAt }
    if (sender.is && underWay.size === 0) check = checkDelivery?.() // not waited for: mails do not wait for it
    return sender.is
  }

  async function keepUp() {
    if (performance.now() - upkeepAt < UPKEEP_MS) return
    upkeepAt = performance.now()
    await withholdOld(db, options.maxAgeDays)
    await applyEvents(db, log)
  }

  async function startAllowed({ notices, marked, bundle, toVisitors }: Plan) {
    const take = async (of: MailKind[], limit: number, filter?: typeof which.all) =>
      start(await claimMails(db, of, Math.min(room(), limit), leaseSeconds, filter))
    await take(toVisitors > 0 ? [...kindsTo('staff'), ...kindsTo('visitor')] : kindsTo('staff'), room(), which.unclear)
    let left = notices - (await take(['Digest'], notices))
    left -= await take(['Staff'], left, which.plain)
    await take(['Staff'], Math.min(left, marked))
    if (bundle) {
      await take(kindsTo('staff'), 1, which.alone)
      if (room() > 0) start(await claimBundle(db, leaseSeconds))
    }
    await take(kindsTo('visitor'), toVisitors)
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
    // Unless another process has taken the mail over meanwhile: then its try counts.
    const mine = { id: mail.id, attempts: mail.attempts, status: 'Pending' as const }
    const message = writeMessage(mail, staff)
    const withheld = await whyWithheld(mail, message).catch((error) => {
      pace.calledOff()
      throw error
    })
    if (withheld || !message || isTooLate(mail)) {
      pace.calledOff()
      if (withheld) await move(db, mine, 'Withheld', { lastError: withheld, ambiguousAt: null })
      else await giveUp(TOO_LATE)
      return
    }
    const timeout = AbortSignal.timeout(Math.min(SEND_TIMEOUT_MS, leaseSeconds * 500))
    const { outcome, headers } = await mailer.send(message, AbortSignal.any([sendingEnds.signal, timeout]))
    pace.learn(headers, underWay.size - 1)
    if (outcome.is === 'sent') {
      const { resendId } = outcome
      await move(db, mine, 'Sent', { resendId, sentAt: new Date(), lastError: null })
      return applyEvents(db, log)
    }
    warn(mail, outcome)
    const lastError = outcome.error
    const clear = outcome.is === 'ambiguous' ? {} : { ambiguousAt: mail.ambiguousAt }
    if (outcome.is === 'refused') {
      await move(db, mine, 'Failed', { lastError, ...clear })
    } else if (outcome.is === 'ambiguous' && outcome.final) {
      await giveUp(lastError)
    } else {
      const waitMs = retryAfterMs(outcome, mail.attempts)
      if (outcome.is !== 'ambiguous') pace.pause(waitMs)
      const nextAttemptAt = new Date(Date.now() + waitMs)
      await move(db, mine, 'Pending', { nextAttemptAt, lastError, ...clear })
    }

    async function giveUp(lastError: string) {
      await move(db, mine, 'Unknown', { lastError })
      if (kinds[mail.kind].alarm)
        log.error({ mail: mail.id }, 'whether staff were told of an enquiry is not known: see `staff mails`')
    }
  }

  async function whyWithheld({ kind, enquiries: [enquiry] }: ClaimedMail, message: unknown) {
    if (!message) return 'Not sent: the enquiries in it were erased.'
    return kind === 'Acknowledgement' && enquiry ? withholdReason(db, enquiry) : undefined
  }

  /** An error, where staff may never be told unless somebody acts. */
  function warn({ id, kind, attempts }: ClaimedMail, outcome: Failure) {
    const fields = { mail: id, kind, attempt: attempts, outcome: outcome.is, reason: outcome.error.split(':')[0] }
    const isForGood = outcome.is === 'refused' && kinds[kind].alarm
    if (isForGood || outcome.error.includes('monthly_quota_exceeded'))
      log.error(fields, 'a mail was not sent, and staff may not know of an enquiry: see `staff mails`')
    else log.warn(fields, 'a mail was not sent')
  }

  function retryAfterMs(outcome: Failure, attempts: number): number {
    const { retrySeconds } = options
    switch (outcome.is) {
      case 'throttled':
        return outcome.retryAfterMs ?? retrySeconds * 1000
      case 'misconfigured':
        return Math.min(retrySeconds * MISCONFIGURED_FACTOR, RETRY_MAX_SECONDS) * 1000
      case 'overQuota':
        return QUOTA_PAUSE_MS
      default: {
        const backOff = Math.min(retrySeconds * 2 ** Math.min(attempts - 1, 10), RETRY_MAX_SECONDS)
        return backOff * 1000 * (0.75 + Math.random() / 2)
      }
    }
  }

  wake()
  return {
    wake,
    async stop(graceMs) {
      stopping.abort()
      clearTimeout(timer)
      const ended = lastLook.then(() => Promise.allSettled([check, ...underWay])) // what a look claims is under way too
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
      sendingEnds.abort()
      await ended
      await releaseLease(db, SENDER, holder).catch(() => undefined) // it ends by itself
    },
  }
}

type Failure = Exclude<Outcome, { is: 'sent' }>

function isTooLate({ ambiguousAt }: ClaimedMail): boolean {
  return ambiguousAt !== null && Date.now() - ambiguousAt.getTime() > KEY_LIFETIME_MS
}

/** Whether PostgreSQL answered, with a no: a right that is missing, say. Classes 08 and 57 tell that it goes away. */
function isRefusal(error: unknown): boolean {
  const state = sqlState(error)
  return state !== undefined && !/^(08|57)/.test(state)
}
