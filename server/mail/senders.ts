import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { createPostChannel } from './post-channel.ts'
import { createResendChannel } from './resend-channel.ts'
import { type SenderOptions, startSender } from './sender.ts'
import { createSummaryWriter, type SummaryOptions } from './summary.ts'

/*
 * Starts a sender for mails and one for webhook posts, so that they do not wait for each other. Read the files of this room in
 * the order of a mail's life:
 *   kinds.ts           which kinds there are, and what a new one needs; states.ts: the states of a mail, and what an answer means
 *   of-enquiry.ts      writes the mails of an enquiry; summary.ts those of all that waits; told.ts decides what staff know already
 *   sender.ts          the loop that sends one after the other, by the statements of queue.ts
 *   resend-channel.ts  what may go through Resend now; resend.ts sends it, resend-answers.ts reads the answer
 *   post-channel.ts    the same for NOTIFY_URL
 *   templates.ts       what mails say, made of parts.ts
 *   routes.ts          takes the events of Resend; delivery.ts records by them what has arrived
 */

type SendersOptions = Omit<SenderOptions, 'claimSeconds'> & SummaryOptions

export function startSenders(db: Db, env: Env, { readProblems, ...options }: SendersOptions) {
  const { log } = options
  const { RESEND_API_KEY: apiKey, NOTIFY_URL: notifyUrl, MAIL_LEASE_SECONDS: claimSeconds } = env
  const writeSummaryIfDue = createSummaryWriter(db, env, { readProblems, log })
  const channels = [
    ...(apiKey ? [createResendChannel(db, env, log, writeSummaryIfDue)] : []),
    ...(notifyUrl ? [createPostChannel(db, env, notifyUrl, log)] : []),
  ]
  const senders = channels.map((channel) => startSender(db, channel, { ...options, claimSeconds }))
  return {
    wake() {
      for (const sender of senders) sender.wake()
    },
    async stop(graceMs: number) {
      await Promise.all(senders.map((sender) => sender.stop(graceMs)))
    },
  }
}
