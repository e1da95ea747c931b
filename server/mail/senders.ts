import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { createPostChannel } from './post-channel.ts'
import { withholdPosts } from './queue.ts'
import { createResendChannel } from './resend-channel.ts'
import { startSender } from './sender.ts'
import { createSummaryWriter } from './summary.ts'

/*
 * Starts a sender for mails and one for webhook posts, so that they do not wait for each other. sender.ts is the loop, queue.ts
 * has its statements, states.ts says what a state and an answer mean; resend-channel.ts and post-channel.ts decide what is sent
 * and send it; delivery.ts records what arrived.
 */

interface SendersOptions {
  log: Logger
  pollMs?: number | undefined
  /** Of a summary: what somebody has to mend. */
  readProblems(): Promise<string[]>
  /** How long an enquiry waits for its notice before a summary may tell of it. */
  summaryWaitMs?: number | undefined
  onDatabaseAway?(): void
}

export function startSenders(db: Db, env: Env, { summaryWaitMs, readProblems, ...options }: SendersOptions) {
  const { log } = options
  const { RESEND_API_KEY: apiKey, NOTIFY_URL: notifyUrl, MAIL_LEASE_SECONDS: leaseSeconds } = env
  const writeSummaryIfDue = createSummaryWriter(db, env, { readProblems, log, waitMs: summaryWaitMs })
  const channels = [
    ...(apiKey ? [createResendChannel(db, env, log, writeSummaryIfDue)] : []),
    ...(notifyUrl ? [createPostChannel(db, env, notifyUrl, log)] : []),
  ]
  // Otherwise posts of an earlier setting would wait for ever; with a key it is looked again each minute.
  if (!notifyUrl) withholdPosts(db).catch(() => undefined)
  const senders = channels.map((channel) => startSender(db, channel, { ...options, leaseSeconds }))
  return {
    wake() {
      for (const sender of senders) sender.wake()
    },
    async stop(graceMs: number) {
      await Promise.all(senders.map((sender) => sender.stop(graceMs)))
    },
  }
}
