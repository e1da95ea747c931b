import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { warnIfOverdue } from './backlog.ts'
import { createResendTransport } from './resend-transport.ts'
import { startSender } from './sender.ts'
import { createWebhookTransport } from './webhook-posts.ts'

/*
 * Starts the senders. sender.ts is the loop; resend-transport.ts decides what is sent, resend.ts and webhook-posts.ts send;
 * delivery.ts records what arrived. states.ts has the states of a mail, queue.ts the statements.
 */

interface OutboxOptions {
  log: Logger
  pollMs?: number | undefined
  /** How long a summary waits for more notices. */
  summaryWaitMs?: number | undefined
  onDatabaseAway?(): void
}

/** Mails and posts have a sender each, so that they do not wait for each other. */
export function startOutbox(db: Db, env: Env, { summaryWaitMs, ...options }: OutboxOptions) {
  const { log } = options
  const { RESEND_API_KEY: apiKey, NOTIFY_URL: notifyUrl, MAIL_LEASE_SECONDS: leaseSeconds } = env
  const transports = [
    ...(apiKey ? [createResendTransport(db, env, log, summaryWaitMs)] : []),
    ...(notifyUrl ? [createWebhookTransport(db, env, notifyUrl, log)] : []),
  ]
  const senders = transports.map((transport) => startSender(db, transport, { ...options, leaseSeconds }))
  if (!apiKey) warnIfOverdue(db, log).catch(() => undefined) // without a key nothing changes until the next start
  return {
    wake() {
      for (const sender of senders) sender.wake()
    },
    async stop(graceMs: number) {
      await Promise.all(senders.map((sender) => sender.stop(graceMs)))
    },
  }
}
