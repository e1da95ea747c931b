import type { Logger } from 'pino'
import { Webhook } from 'standardwebhooks'
import { brand } from '../../shared/brand.ts'
import type { Db } from '../database/database.ts'
import { type Enquiry, enquiryFields } from '../enquiries/enquiry.ts'
import type { Env } from '../env.ts'
import { DAY_MS } from '../words.ts'
import { titleOf } from './letters.ts'
import { backOffMs, type ClaimedMail, settle, tryAgain } from './owed.ts'
import { clean, readSeconds } from './resend.ts'

/*
 * Tells NOTIFY_URL of each enquiry: a chat by a line that names nobody, another program by the whole enquiry, signed.
 * The address may be a secret: nothing here tells more of it than its origin.
 */

const TIMEOUT_MS = 10_000
/** After a try that failed. */
const PAUSE_MS = 1000
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
  signal = AbortSignal.timeout(TIMEOUT_MS),
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

/**
 * Posts one enquiry, and writes down what came of it. An enquiry that was erased just now has no post.
 * @returns for how long nothing else is to be posted
 */
export async function deliverPost(
  db: Db,
  { NOTIFY_SECRET, NOTIFY_FORMAT, MAIL_RETRY_SECONDS, MAIL_MAX_AGE_DAYS }: Env,
  url: string,
  mail: ClaimedMail,
  signal: AbortSignal,
  log: Pick<Logger, 'error' | 'warn'>,
): Promise<number> {
  const [enquiry] = mail.enquiries
  if (!enquiry) return 0
  if (enquiry.suspectedSpam && NOTIFY_FORMAT === 'text') {
    await settle(db, mail, { state: 'Withheld', change: { lastError: 'Not posted: suspected spam.' } })
    return 0
  }
  const { isTaken, error, retryAfterMs } = await post(
    url,
    NOTIFY_SECRET,
    mail.key,
    bodyOf(NOTIFY_FORMAT, enquiry),
    signal,
  )
  if (isTaken) {
    await settle(db, mail, { state: 'Sent', change: { sentAt: new Date(), lastError: null } })
    return 0
  }
  const fields = { mail: mail.id, to: new URL(url).origin, attempt: mail.attempts, reason: error }
  if (error === GONE || Date.now() - enquiry.receivedAt.getTime() > MAIL_MAX_AGE_DAYS * DAY_MS) {
    await settle(db, mail, { state: 'Failed', change: { lastError: error } })
    log.error(fields, 'NOTIFY_URL was not told of an enquiry, and is not tried again: see `staff mails`')
  } else {
    await settle(db, mail, tryAgain(Math.max(backOffMs(mail.attempts, MAIL_RETRY_SECONDS), retryAfterMs), error))
    log.warn(fields, 'NOTIFY_URL was not told of an enquiry yet')
  }
  return Math.max(retryAfterMs, PAUSE_MS)
}
