import type { Logger } from 'pino'
import { Webhook } from 'standardwebhooks'
import type { Db } from '../database/database.ts'
import { type Enquiry, enquiryFields } from '../enquiries/enquiry.ts'
import { SPAM_REASONS } from '../enquiries/insert-enquiries.ts'
import type { Env } from '../env.ts'
import { propertiesOf } from '../errors.ts'
import { staffCommand } from '../format.ts'
import { backOffMs, claimTried, claimUntried, withholdOld } from './queue.ts'
import { clean, readDelayMs } from './resend-answers.ts'
import type { Transport } from './sender.ts'
import { titleOf } from './templates.ts'
import { createTurns } from './turns.ts'

/* Posts enquiries to NOTIFY_URL. The address may be a secret: logs and messages show its origin only. */

const PAUSE_AFTER_FAILURE_MS = 1000

/** Made of the stored row and nothing else, so that a repeat has the same bytes. */
export function createPostBody(format: Env['NOTIFY_FORMAT'], enquiry: Enquiry, type = 'enquiry.stored'): string {
  if (format === 'text') return JSON.stringify({ text: titleOf(enquiry) })
  const { id, reference, receivedAt, suspectedSpam } = enquiry
  const fields = Object.fromEntries(enquiryFields.map((field) => [field, enquiry[field]]))
  const data = { id, reference, receivedAt, suspectedSpam, ...fields, quantity: Number(enquiry.quantity) }
  return JSON.stringify({ type, timestamp: receivedAt, data })
}

/** Posts once, by Standard Webhooks: `id` is the same for all tries. Never throws. `answer` may repeat what was posted. */
export async function sendPost(
  { url, secret }: { url: string; secret: string | undefined },
  id: string,
  body: string,
  signal: AbortSignal,
) {
  const now = new Date()
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    ...(secret && { 'webhook-signature': new Webhook(secret).sign(id, now, body) }),
  }
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    const { ok: isAccepted } = response
    const reader = response.body?.getReader()
    const piece = isAccepted ? undefined : await reader?.read() // the whole answer may be of any size
    await reader?.cancel()
    const answer = clean(piece?.value && new TextDecoder().decode(piece.value))
    const retryAfterMs = readDelayMs(response.headers.get('retry-after')) ?? 0
    const isGone = response.status === 410 // the receiver wants no more posts
    return { isAccepted, isGone, status: `HTTP ${response.status}`, answer, retryAfterMs }
  } catch (error) {
    const { cause, name } = error as Error
    return { isAccepted: false, status: String(propertiesOf(cause).code ?? name), answer: '', retryAfterMs: 0 }
  }
}

/** Posts one at a time, as chats ask for. */
export function createWebhookTransport(db: Db, env: Env, url: string, log: Pick<Logger, 'error' | 'warn'>): Transport {
  const { NOTIFY_SECRET, NOTIFY_FORMAT, MAIL_RETRY_SECONDS, MAIL_MAX_AGE_DAYS, MAIL_LEASE_SECONDS } = env
  const target = { url, secret: NOTIFY_SECRET }
  return {
    lease: 'post sender',
    parallel: 1,
    turns: createTurns(() => 0),
    async prepare(isUpkeep) {
      if (isUpkeep) await withholdOld(db, ['Post'], MAIL_MAX_AGE_DAYS)
    },
    async claim(most) {
      const untried = await claimUntried(db, 'Post', most, MAIL_LEASE_SECONDS)
      // Tried ones come last, because a receiver that hangs must not hold up the others.
      return untried.length > 0 ? untried : claimTried(db, ['Post'], most, MAIL_LEASE_SECONDS)
    },
    async attempt({ enquiry, key, attempts, triedHoursAgo }, signal) {
      if (!enquiry) return { status: 'Withheld', lastError: 'Not posted: what it was about was erased.' }
      if (enquiry.suspectedSpam && NOTIFY_FORMAT === 'text') return { status: 'Withheld', lastError: SPAM_REASONS.Post }
      const body = createPostBody(NOTIFY_FORMAT, enquiry)
      const { isAccepted, isGone, status: lastError, retryAfterMs } = await sendPost(target, key, body, signal)
      if (isAccepted) return { status: 'Sent', lastError: null }
      const pauseMs = Math.max(retryAfterMs, PAUSE_AFTER_FAILURE_MS)
      const isTooOld = Number(triedHoursAgo) > MAIL_MAX_AGE_DAYS * 24
      if (isGone || isTooOld) return { status: 'Failed', lastError, pauseMs }
      const dueInMs = Math.max(backOffMs(attempts, MAIL_RETRY_SECONDS), retryAfterMs)
      return { status: 'Pending', lastError, dueInMs, pauseMs }
    },
    logResult({ id, attempts }, { status, lastError: reason }) {
      const fields = { mail: id, to: new URL(url).origin, attempt: attempts, reason }
      if (status === 'Failed')
        log.error(fields, `a webhook post failed and is not tried again: see ${staffCommand('mails')}`)
      if (status === 'Pending') log.warn(fields, 'a webhook post failed and will be tried again')
    },
  }
}
