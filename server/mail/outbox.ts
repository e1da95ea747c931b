import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import { releaseLease, takeLease } from '../database/lease.ts'
import { sqlState } from '../errors.ts'
import { type Allowance, readAllowance } from './budget.ts'
import { type ClaimedMail, claimBundle, claimMails } from './claims.ts'
import { deliver } from './deliver.ts'
import { applyEvents, logChanges } from './delivery.ts'
import { createDeliveryCheck } from './delivery-check.ts'
import { withholdOld } from './limits.ts'
import type { Mailer } from './mailer.ts'
import { createPace } from './pace.ts'

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
  /** Mails in 24 hours; 0 for no limit. */
  dailyBudget: number
  maxAgeDays: number
  /** Whether Resend tells by itself what became of mails. */
  toldOfDelivery: boolean
  availability: Availability
  log: Pick<Logger, 'error' | 'warn' | 'info'>
}

/** Whether PostgreSQL answered, with a no: a right that is missing, say. Classes 08 and 57 tell that it goes away. */
function isRefusal(error: unknown): boolean {
  const state = sqlState(error)
  return state !== undefined && !/^(08|57)/.test(state)
}

const POLL_MS = 1000
const UPKEEP_MS = 60_000
/** Only one process sends, so that the limits of Resend are one's to keep. Another one takes over after so long. */
const SENDER = 'sends mails'
const SENDER_SECONDS = 5

/**
 * Sends the mails that `Quvera_Mail` says we owe. A mail is claimed by moving its next attempt forward before it is
 * sent: no transaction stays open meanwhile, and when this process dies another one takes the mail over after the
 * lease, with the same idempotency key.
 */
export function startOutbox(db: Db, mailer: Mailer, options: OutboxOptions): Outbox {
  const { availability, log } = options
  const holder = randomUUID()
  const pace = createPace()
  const checkDelivery = options.toldOfDelivery ? undefined : createDeliveryCheck({ db, mailer, pace, log })
  const underWay = new Set<Promise<void>>()
  const abort = new AbortController()
  let stopped = false
  let looking = false
  let lookAgain = false
  let lookFails = false
  let lastLook: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let sender = { is: false, askedAt: Number.NEGATIVE_INFINITY }
  let upkeepAt = Number.NEGATIVE_INFINITY

  function wake() {
    lookAgain = true
    if (looking || stopped) return
    looking = true
    lookAgain = false
    clearTimeout(timer)
    lastLook = lookSafely().then((pauseMs) => {
      looking = false
      if (stopped) return
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
    if (pace.room(underWay.size).mails === 0) return pace.room(underWay.size).pauseMs
    const allowance = await readAllowance(db, options.dailyBudget)
    start(await claimNotices(allowance))
    const { mails } = pace.room(underWay.size)
    const limit = Math.min(mails, allowance.acknowledgements)
    if (limit > 0) start(await claimMails(db, 'Acknowledgement', limit, options.leaseSeconds))
    if (underWay.size === 0) await checkDelivery?.()
    return pace.room(underWay.size).pauseMs
  }

  /** Asked of the database once a second, however often orders come. */
  async function isSender(): Promise<boolean> {
    if (performance.now() - sender.askedAt < POLL_MS) return sender.is
    const askedAt = performance.now()
    sender = { is: await takeLease(db, SENDER, holder, SENDER_SECONDS), askedAt }
    return sender.is
  }

  async function keepUp() {
    if (performance.now() - upkeepAt < UPKEEP_MS) return
    upkeepAt = performance.now()
    await withholdOld(db, options.maxAgeDays)
    logChanges(log, await applyEvents(db))
  }

  async function claimNotices({ notices, bundled }: Allowance): Promise<ClaimedMail[]> {
    const { leaseSeconds } = options
    const limit = Math.min(pace.room(underWay.size).mails, notices)
    if (limit <= 0) return []
    const mails = await claimMails(db, 'Staff', limit, leaseSeconds, { onlyTriedBefore: bundled })
    if (mails.length < limit) mails.push(...(await claimMails(db, 'Digest', limit - mails.length, leaseSeconds)))
    return bundled && mails.length === 0 ? claimBundle(db, leaseSeconds) : mails
  }

  function start(mails: ClaimedMail[]) {
    for (const mail of mails) {
      pace.started()
      const sending = deliver(mail, {
        ...options,
        db,
        mailer,
        pace,
        signal: abort.signal,
        others: () => underWay.size - 1,
      })
        .catch((error) => log.error({ err: error, mail: mail.id }, 'a mail was not sent, or its outcome not recorded'))
        .finally(() => {
          underWay.delete(sending)
          wake()
        })
      underWay.add(sending)
    }
  }

  wake()
  return {
    wake,
    async stop(graceMs) {
      stopped = true
      clearTimeout(timer)
      const ended = lastLook.then(() => Promise.allSettled(underWay)) // what a look claims is under way like the rest
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
      abort.abort()
      await ended
      await releaseLease(db, SENDER, holder).catch(() => undefined) // it ends by itself
    },
  }
}
