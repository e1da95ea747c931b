import type { Logger } from 'pino'
import type { Availability } from '../database/availability.ts'
import type { Db } from '../database/database.ts'
import { recordEvent } from './delivery.ts'
import { startDigest } from './digest.ts'
import { startOutbox } from './outbox.ts'
import { readBacklog } from './owed.ts'
import { createMailer, type DeliveryEvent } from './resend.ts'

/*
 * In: rows of Quvera_Mail that say what we owe, and Resend's events. Out: mails through Resend, and in the same rows what
 * became of them. Read in this order: states.ts (what a mail can be), owed.ts (what is taken to be sent), plan.ts (what
 * may be sent now; pace.ts: how fast), outbox.ts (the loop, and one try), letters.ts (the words), resend.ts (all that
 * comes from Resend), delivery.ts (what became of it). by-hand.ts is what staff do to mails, digest.ts their daily page.
 */

export interface Mails {
  /** Orders were stored: mails are owed. Never throws. */
  wake(): void
  /** Resend tells what became of a mail. */
  recordEvent(event: DeliveryEvent): Promise<void>
  /** Ends once the mails under way have an outcome, or `graceMs` have passed. */
  stop(graceMs: number): Promise<void>
}

export interface MailsOptions {
  /** Without one mails wait in the table. */
  apiKey: string | undefined
  baseUrl?: string | undefined
  from: string
  staff: string[]
  leaseSeconds: number
  retrySeconds: number
  dailyBudget: number
  maxAgeDays: number
  toldOfDelivery: boolean
  /** When staff get a digest, Indian time; never unless given. */
  digestAt?: string | undefined
  availability: Availability
  log: Logger
}

const WATCH_MS = 60_000

/** Begins to send what is owed. */
export function startMails(db: Db, { apiKey, baseUrl, from, digestAt, ...options }: MailsOptions): Mails {
  const { log } = options
  const outbox = apiKey ? startOutbox(db, createMailer({ apiKey, baseUrl, from }), options) : undefined
  const endDigest = outbox && digestAt ? startDigest(db, digestAt, log) : undefined
  warnIfOverdue()
  // Without a key nothing changes until the next start.
  const watch = outbox && setInterval(warnIfOverdue, WATCH_MS)

  async function warnIfOverdue() {
    try {
      const { overdue, oldestPendingSeconds, pending } = await readBacklog(db)
      if (overdue) log.warn({ oldestPendingSeconds, pending }, 'mails wait longer than they should')
    } catch {
      // What cannot be read is reported by whoever needs it.
    }
  }

  return {
    wake: () => outbox?.wake(),
    recordEvent: (event) => recordEvent(db, log, event),
    async stop(graceMs) {
      clearInterval(watch)
      endDigest?.()
      await outbox?.stop(graceMs)
    },
  }
}
