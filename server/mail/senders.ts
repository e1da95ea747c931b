import type { Logger } from 'pino'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { staffCommand } from '../format.ts'
import { readProblems } from '../operations/problems.ts'
import { createPostChannel } from './post-channel.ts'
import { createResendChannel } from './resend-channel.ts'
import { startSender } from './sender.ts'

/*
 * Starts a sender for mails and one for webhook posts, so that they do not wait for each other. sender.ts is the loop, queue.ts
 * has its statements, states.ts says what a state and an answer mean; resend-channel.ts and post-channel.ts decide what is sent
 * and send it; delivery.ts records what arrived.
 */

interface SendersOptions {
  log: Logger
  pollMs?: number | undefined
  /** How long a summary waits for more enquiries. */
  summaryWaitMs?: number | undefined
  onDatabaseAway?(): void
}

export function startSenders(db: Db, env: Env, { summaryWaitMs, ...options }: SendersOptions) {
  const { log } = options
  const { RESEND_API_KEY: apiKey, NOTIFY_URL: notifyUrl, MAIL_LEASE_SECONDS: leaseSeconds } = env
  const channels = [
    ...(apiKey ? [createResendChannel(db, env, log, summaryWaitMs)] : []),
    ...(notifyUrl ? [createPostChannel(db, env, notifyUrl, log)] : []),
  ]
  const senders = channels.map((channel) => startSender(db, channel, { ...options, leaseSeconds }))
  if (!apiKey) warnOfProblems(db, env, log).catch(() => undefined) // without a key nothing changes until the next start
  return {
    wake() {
      for (const sender of senders) sender.wake()
    },
    async stop(graceMs: number) {
      await Promise.all(senders.map((sender) => sender.stop(graceMs)))
    },
  }
}

async function warnOfProblems(db: Db, env: Env, log: Logger): Promise<void> {
  for (const problem of await readProblems(db, env, { siteSeconds: 0 }))
    log.warn(`${problem} See ${staffCommand('mails')}`)
}
