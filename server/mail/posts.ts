import { Webhook } from 'standardwebhooks'
import { brand } from '../../shared/brand.ts'
import type { Db } from '../database/database.ts'
import { type Enquiry, enquiryFields } from '../enquiries/enquiry.ts'
import type { Env } from '../env.ts'
import { DAY_MS } from '../words.ts'
import { titleOf } from './letters.ts'
import { backOffMs, type Loop, type LoopParts, POLL_MS, startLoop, TRY_TIMEOUT_MS } from './loop.ts'
import { type ClaimedMail, claimMails, settle, withholdOld } from './owed.ts'
import { clean, readSeconds } from './resend.ts'

/*
 * Tells NOTIFY_URL of each enquiry: a chat by a line that names nobody, another program by the whole enquiry, signed. In
 * a loop of its own, so that neither it nor the mails wait for each other. The address may be a secret: nothing here
 * tells more of it than its origin.
 */

/** Longer than a try. */
const LEASE_SECONDS = 15
/** The receiver wants no more of this. */
const GONE = 'HTTP 410'

/** What is said of an enquiry: made of the stored row and nothing else, so that a repeat is the same to the letter. */
export function bodyOf(format: Env['NOTIFY_FORMAT'], enquiry: Enquiry, type = 'enquiry.stored'): string {
  if (format === 'text') return JSON.stringify({ text: `${brand.name}: ${titleOf(enquiry)}` })
  const { id, reference, receivedAt, suspectedSpam } = enquiry
  const fields = Object.fromEntries(enquiryFields.map((field) => [field, enquiry[field]]))
  const data = { id, reference, receivedAt, suspectedSpam, ...fields, quantity: Number(enquiry.quantity) }
  return JSON.stringify({ type, timestamp: receivedAt, data })
}

/**
 * Posts once, by the Standard Webhooks specification: `id` stays the same over all tries. Never throws.
 * @returns whether it was taken; if not `HTTP 404`, or the code of what went wrong on the way, and beside it the words of
 * a stranger, which may hold what it was told
 */
export async function post(
  url: string,
  secret: string | undefined,
  id: string,
  body: string,
  signal = AbortSignal.timeout(TRY_TIMEOUT_MS),
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
    const { ok: isTaken, status } = response
    const reader = response.body?.getReader()
    const piece = isTaken ? undefined : await reader?.read() // of an answer that may unpack to anything
    await reader?.cancel()
    const words = clean(piece?.value && new TextDecoder().decode(piece.value))
    const retryAfterMs = readSeconds(response.headers.get('retry-after')) ?? 0
    return { isTaken, error: `HTTP ${status}`, words, retryAfterMs }
  } catch (error) {
    const { cause, name } = error as Error
    return { isTaken: false, error: String(Object(cause).code ?? name), words: '', retryAfterMs: 0 }
  }
}

/** Posts what is owed to NOTIFY_URL: one process at a time, and one post, as chats want it. */
export function startPosts(db: Db, env: Env, url: string, parts: LoopParts): Loop {
  const { log, pollMs = POLL_MS } = parts
  const { origin } = new URL(url)
  const loop = startLoop(db, { name: 'posts', seconds: LEASE_SECONDS, look }, parts)
  let pausedUntil = 0
  let isTidy = false

  async function look(): Promise<number> {
    if (performance.now() < pausedUntil) return pollMs
    if (!isTidy) await withholdOld(db, env.MAIL_MAX_AGE_DAYS, ['Post']) // what an earlier NOTIFY_URL did not take
    isTidy = true
    const [due] = await claimMails(db, ['Post'], 1, env.MAIL_LEASE_SECONDS)
    if (!due || !(await deliver(due))) return pollMs // while it fails; a new order has a look of its own
    loop.wake()
    return 0
  }

  async function deliver(mail: ClaimedMail): Promise<boolean> {
    const [enquiry] = mail.enquiries
    if (!enquiry) return true // it was erased just now
    if (enquiry.suspectedSpam && env.NOTIFY_FORMAT === 'text') {
      await settle(db, mail, 'Withheld', { lastError: 'Not posted: suspected spam.' })
      return true
    }
    const body = bodyOf(env.NOTIFY_FORMAT, enquiry)
    const signal = loop.endOfTry(env.MAIL_LEASE_SECONDS)
    const { isTaken, error, retryAfterMs } = await post(url, env.NOTIFY_SECRET, mail.key, body, signal)
    if (isTaken) {
      await settle(db, mail, 'Sent', { sentAt: new Date(), lastError: null })
      return true
    }
    const fields = { mail: mail.id, to: origin, attempt: mail.attempts, reason: error }
    if (error === GONE || Date.now() - enquiry.receivedAt.getTime() > env.MAIL_MAX_AGE_DAYS * DAY_MS) {
      await settle(db, mail, 'Failed', { lastError: error })
      log.error(fields, 'NOTIFY_URL was not told of an enquiry, and is not tried again: see `staff mails`')
      return false
    }
    const waitMs = Math.max(backOffMs(mail.attempts, env.MAIL_RETRY_SECONDS), retryAfterMs)
    await settle(db, mail, 'Pending', { nextAttemptAt: new Date(Date.now() + waitMs), lastError: error })
    pausedUntil = performance.now() + retryAfterMs
    log.warn(fields, 'NOTIFY_URL was not told of an enquiry yet')
    return false
  }

  log.info(`enquiries are also posted to ${origin}`)
  return loop
}
