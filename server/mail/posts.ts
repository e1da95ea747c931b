import { Webhook } from 'standardwebhooks'
import { brand } from '../../shared/brand.ts'
import type { Db } from '../database/database.ts'
import { type Enquiry, enquiryFields } from '../enquiries/enquiry.ts'
import type { Env } from '../env.ts'
import { DAY_MS } from '../words.ts'
import { titleOf } from './letters.ts'
import { backOffMs, type LoopParts, POLL_MS, startLoop } from './loop.ts'
import type { Outbox } from './outbox.ts'
import { type ClaimedMail, claimMails, withholdOld } from './owed.ts'
import { clean, readSeconds } from './resend.ts'
import { move } from './states.ts'

/*
 * Tells NOTIFY_URL of each enquiry: a chat by a line that names nobody, another program by the whole enquiry, signed. In
 * a loop of its own, so that neither it nor the mails wait for each other. The address may be a secret: nothing here
 * tells more of it than its origin.
 */

const TIMEOUT_MS = 10_000
const UPKEEP_MS = 60_000
/** "Gone": the receiver wants no more of this. */
const GONE = 410

export type PostSettings = Pick<Env, 'NOTIFY_FORMAT' | 'NOTIFY_SECRET'>

interface Answer {
  isTaken: boolean
  /** The HTTP status, if it answered. */
  status?: number
  /** `HTTP 404`, or the code of what went wrong on the way. */
  error: string
  /** What it says beside it: a stranger's words, which may hold what it was told. */
  words: string
  retryAfterMs: number
}

/** What is said of an enquiry: made of the stored row and nothing else, so that a repeat is the same to the letter. */
export function bodyOf(format: Env['NOTIFY_FORMAT'], enquiry: Enquiry, type = 'enquiry.stored'): string {
  if (format === 'text') return JSON.stringify({ text: `${brand.name}: ${titleOf(enquiry)}` })
  const { id, reference, receivedAt, suspectedSpam } = enquiry
  const fields = Object.fromEntries(enquiryFields.map((field) => [field, enquiry[field]]))
  const data = { id, reference, receivedAt, suspectedSpam, ...fields, quantity: Number(enquiry.quantity) }
  return JSON.stringify({ type, timestamp: receivedAt, data })
}

/** Posts once, by the Standard Webhooks specification: `id` stays the same over all tries. Never throws. */
export async function post(url: string, secret: string | undefined, id: string, body: string, signal: AbortSignal) {
  const now = new Date()
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    ...(secret && { 'webhook-signature': new Webhook(secret).sign(id, now, body) }),
  }
  const answer: Answer = { isTaken: false, error: '', words: '', retryAfterMs: 0 }
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    const { ok: isTaken, status } = response
    const told = { ...answer, isTaken, status, error: `HTTP ${status}` }
    if (!isTaken) told.words = clean(await response.text())
    else await response.body?.cancel()
    return { ...told, retryAfterMs: readSeconds(response.headers.get('retry-after') ?? undefined) ?? 0 }
  } catch (error) {
    const { cause, name } = error as Error
    return { ...answer, error: String(Object(cause).code ?? name) }
  }
}

/** Posts what is owed to NOTIFY_URL, one at a time, as chats want it. */
export function startPosts(db: Db, env: Env, url: string, parts: LoopParts): Outbox {
  const { log } = parts
  const {
    NOTIFY_FORMAT: format,
    NOTIFY_SECRET: secret,
    MAIL_LEASE_SECONDS: leaseSeconds,
    MAIL_MAX_AGE_DAYS: days,
  } = env
  const loop = startLoop(look, parts)
  let pausedUntil = 0
  let upkeepAt = Number.NEGATIVE_INFINITY

  async function look(): Promise<number> {
    if (performance.now() < pausedUntil) return POLL_MS
    if (performance.now() - upkeepAt > UPKEEP_MS) {
      upkeepAt = performance.now()
      await withholdOld(db, days, ['Post'])
    }
    const [due] = await claimMails(db, ['Post'], 1, leaseSeconds)
    if (!due || !(await deliver(due))) return POLL_MS // while it fails, no more than one a second
    loop.wake()
    return 0
  }

  async function deliver(due: ClaimedMail): Promise<boolean> {
    const { id, attempts, enquiries, key } = due
    const [enquiry] = enquiries
    if (!enquiry) return true // it was erased just now
    const timeout = AbortSignal.timeout(Math.min(TIMEOUT_MS, leaseSeconds * 500))
    const signal = AbortSignal.any([loop.graceIsOver, timeout])
    const answer = await post(url, secret, key, bodyOf(format, enquiry), signal)
    const claimed = { id, attempts, status: 'Pending' as const }
    if (answer.isTaken) {
      await move(db, claimed, 'Sent', { sentAt: new Date(), lastError: null })
      return true
    }
    const fields = { mail: id, to: new URL(url).origin, attempt: attempts, reason: answer.error }
    const isOld = Date.now() - enquiry.receivedAt.getTime() > days * DAY_MS
    if (answer.status === GONE || isOld) {
      await move(db, claimed, 'Failed', { lastError: answer.error })
      log.error(fields, 'NOTIFY_URL was not told of an enquiry, and is not tried again: see `staff mails`')
      return false
    }
    const waitMs = Math.max(backOffMs(attempts, env.MAIL_RETRY_SECONDS), answer.retryAfterMs)
    const nextAttemptAt = new Date(Date.now() + waitMs)
    await move(db, claimed, 'Pending', { nextAttemptAt, lastError: answer.error })
    pausedUntil = performance.now() + answer.retryAfterMs
    log.warn(fields, 'NOTIFY_URL was not told of an enquiry yet')
    return false
  }

  log.info(`enquiries are also posted to ${new URL(url).origin}`)
  loop.wake()
  return loop
}
