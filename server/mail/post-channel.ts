import type { Logger } from 'pino'
import { Webhook } from 'standardwebhooks'
import { pickOrderFields } from '../../shared/order.ts'
import type { Db } from '../database/database.ts'
import type { Enquiry } from '../database/enquiry.ts'
import type { Env } from '../env.ts'
import { propertiesOf } from '../errors.ts'
import { staffCommand } from '../staff-command.ts'
import { claimNext, withholdStale } from './queue.ts'
import { clean, readDelayMs } from './resend-answers.ts'
import type { Channel } from './sender.ts'
import { titleOf } from './templates.ts'

/* Posts enquiries to NOTIFY_URL. The address may be a secret: logs and messages show its origin only. */

const TRIES = 12
/** Times MAIL_RETRY_SECONDS: half a minute, then twice as long each time, some 17 hours in all. */
const RETRY_FACTOR = 6
/** With its jitter less than the queue takes for a time that was set by a clock ahead. */
const RETRY_MAX_SECONDS = 28_800

/** Made of the stored row only. */
export function createPostBody(format: Env['NOTIFY_FORMAT'], enquiry: Enquiry, type = 'enquiry.stored'): string {
  if (format === 'text') return JSON.stringify({ text: titleOf(enquiry) })
  const { id, reference, receivedAt, suspectedSpam } = enquiry
  const data = {
    id,
    reference,
    receivedAt,
    suspectedSpam,
    ...pickOrderFields(enquiry),
    quantity: Number(enquiry.quantity),
  }
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

export function createPostChannel(db: Db, env: Env, url: string, log: Pick<Logger, 'error' | 'warn'>): Channel {
  const { NOTIFY_SECRET, NOTIFY_FORMAT, MAIL_RETRY_SECONDS, MAIL_LEASE_SECONDS: claimSeconds } = env
  const target = { url, secret: NOTIFY_SECRET }
  const of = ['Post'] as const
  return {
    lease: 'post sender',
    retrySeconds: RETRY_FACTOR * MAIL_RETRY_SECONDS,
    retryMaxSeconds: RETRY_MAX_SECONDS,
    intervalMs: () => 0,
    async prepare(isUpkeep) {
      if (isUpkeep) await withholdStale(db, env, of)
    },
    // Never as a probe: the receiver may dislike one post and take the others. In an outage some lose one of their twelve tries.
    claim: () => claimNext(db, { of, open: of, staff: [], isProbing: false, claimSeconds }),
    async attempt({ enquiry, tag, attempts }, signal) {
      if (!enquiry) return { is: 'refused', error: 'what it was about was erased' }
      const body = createPostBody(NOTIFY_FORMAT, enquiry)
      const { isAccepted, isGone, status: error, retryAfterMs } = await sendPost(target, tag, body, signal)
      if (isAccepted) return { is: 'taken' }
      if (isGone || attempts >= TRIES) return { is: 'refused', error }
      // A chat that limits posts does not want the others either.
      if (retryAfterMs > 0) return { is: 'not taken', error, pauseMs: retryAfterMs }
      return { is: 'unclear', error }
    },
    logAnswer({ id, attempts }, answer) {
      if (!('error' in answer)) return
      const fields = { mail: id, to: new URL(url).origin, attempt: attempts, reason: answer.error }
      if (answer.is === 'refused')
        log.error(fields, `a webhook post failed and is not tried again: see ${staffCommand('mails')}`)
      else log.warn(fields, 'a webhook post failed and will be tried again')
    },
  }
}
