import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { mailWork, warnIfOverdue } from './mails.ts'
import { postWork } from './posts.ts'
import { startSender } from './sender.ts'

/*
 * The life of a mail. An order writes it (enquiries/orders.ts). A sender claims it, tries it once, records the result, and
 * comes back to it until the result is final. Events of Resend say later whether it arrived (delivery.ts).
 * sender.ts has these steps; mails.ts takes them through Resend, posts.ts to NOTIFY_URL. states.ts: what a mail can be.
 * quota.ts: how many may be sent now. queue.ts: statements. templates.ts and summary.ts: texts.
 */

interface OutboxOptions {
  log: Logger
  pollMs?: number | undefined
  /** How long a summary waits for more. */
  summaryWaitMs?: number | undefined
}

/** Mails and posts do not wait for each other. */
export function startOutbox(db: Db, env: Env, { log, pollMs, summaryWaitMs }: OutboxOptions) {
  const { RESEND_API_KEY: apiKey, NOTIFY_URL: notifyUrl, MAIL_LEASE_SECONDS: leaseSeconds } = env
  const works = [
    ...(apiKey ? [mailWork(db, env, log, summaryWaitMs)] : []),
    ...(notifyUrl ? [postWork(db, env, notifyUrl, log)] : []),
  ]
  const senders = works.map((work) => startSender(db, work, { log, pollMs, leaseSeconds }))
  if (!apiKey) warnIfOverdue(db, log).catch(() => undefined) // without a key nothing changes until the next start
  if (notifyUrl) log.info(`enquiries are also posted to ${new URL(notifyUrl).origin}`)
  return {
    wake() {
      for (const sender of senders) sender.wake()
    },
    async stop(graceMs: number) {
      await Promise.all(senders.map((sender) => sender.stop(graceMs)))
    },
  }
}
