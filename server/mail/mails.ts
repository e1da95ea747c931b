import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { recordEvent } from './delivery.ts'
import { startDigest } from './digest.ts'
import type { Loop, LoopParts } from './loop.ts'
import { startOutbox } from './outbox.ts'
import { readBacklog } from './owed.ts'
import { startPosts } from './posts.ts'
import { createMailer, type DeliveryEvent } from './resend.ts'

/*
 * In: rows of Quvera_Mail that say what we owe, and Resend's events. Out: mails through Resend, and in the same rows what
 * became of them. Read in this order: states.ts (what a mail can be), owed.ts (what is taken to be sent), plan.ts (what
 * may be sent now; pace.ts: how fast), outbox.ts (the loop, and one try), letters.ts (the words), resend.ts (all that
 * comes from Resend), delivery.ts (what became of it). posts.ts tells NOTIFY_URL by the same table. by-hand.ts is what staff
 * do to mails, digest.ts their daily page.
 */

export interface Mails extends Pick<Loop, 'wake' | 'stop'> {
  /** Resend tells what became of a mail. */
  recordEvent(event: DeliveryEvent): Promise<void>
}

const WATCH_MS = 60_000

/** Sends what is owed, if there is a key, and warns while it waits too long. */
export function startMails(db: Db, env: Env, parts: LoopParts & { log: Logger }): Mails {
  const { log } = parts
  const { RESEND_API_KEY: apiKey, RESEND_BASE_URL: baseUrl, MAIL_FROM: from, DIGEST_AT: digestAt } = env
  const outbox = apiKey ? startOutbox(db, createMailer({ apiKey, baseUrl, from }), env, parts) : undefined
  const posts = env.NOTIFY_URL ? startPosts(db, env, env.NOTIFY_URL, parts) : undefined
  const endDigest = outbox && digestAt ? startDigest(db, digestAt, log) : undefined
  warnIfOverdue()
  const watch = outbox && setInterval(warnIfOverdue, WATCH_MS) // without a key nothing changes until the next start

  async function warnIfOverdue() {
    try {
      const { overdue, oldestPendingSeconds, pending } = await readBacklog(db)
      if (overdue) log.warn({ oldestPendingSeconds, pending }, 'mails wait longer than they should')
    } catch {
      // What cannot be read is reported by whoever needs it.
    }
  }

  return {
    wake() {
      outbox?.wake()
      posts?.wake()
    },
    recordEvent: (event) => recordEvent(db, log, event),
    async stop(graceMs) {
      clearInterval(watch)
      endDigest?.()
      await Promise.all([outbox?.stop(graceMs), posts?.stop(graceMs)])
    },
  }
}
