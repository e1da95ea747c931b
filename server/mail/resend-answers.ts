import type { Result } from './queue.ts'

/* What an answer of Resend's means for a mail. Every text of Resend's is cleaned before it is stored, shown or logged. */

/** What the SDK returns; any part may be missing. */
interface ResendAnswer {
  data?: { id?: unknown } | null
  error?: { name?: unknown; message?: unknown } | null
  headers?: Record<string, string> | null
}

const TEXT_MAX = 500
/** After an ambiguous answer, so that few mails get one while Resend is down. */
const AMBIGUOUS_PAUSE_MAX_MS = 1000
/** Times the usual pause: somebody has to correct the key, the sender or RESEND_BASE_URL first. */
const MISCONFIGURED_FACTOR = 12
const MISCONFIGURED_MAX_MS = 300_000
const QUOTA_PAUSE_MS = 3_600_000
const RETRY_AFTER_MAX_SECONDS = 3600
/** Resend's names for a mail that it will never take; see isAboutMail. */
const MAIL_ERRORS = [
  'validation_error',
  'missing_required_field',
  'invalid_parameter',
  'invalid_attachment',
  'security_error',
]
/** In the message of an error, such as: Invalid `to` field. */
const FIELD = /[`'"](to|reply_to|subject|text|html|headers|tags)[`'"]/
const CONCERNS_SENDER = /[`'"]from[`'"]|\bfrom (?:address|field)\b|: from\b|api key/i
/** Before a domain is verified, Resend sends to the owner of the account and nobody else. Its message names `from` too. */
const CONCERNS_RECEIVER = /testing emails/i

/** One line of printable characters, at most `TEXT_MAX`. */
export function clean(text: unknown): string {
  const short = typeof text === 'string' || typeof text === 'number' ? String(text).slice(0, TEXT_MAX) : ''
  return short.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
}

/** The SMTP reply code, such as `550 5.1.1`. The rest is text of a stranger's mail server. */
export function replyCode(text: unknown): string | undefined {
  return /\b[245]\d\d\b(?:[ -]?[245]\.\d{1,3}\.\d{1,3}\b)?/.exec(String(text))?.[0]
}

/** The result of a request. `retryMs` is how long to pause if Resend does not say. */
export function readResult(
  { data, error: failure, headers }: ResendAnswer,
  { isConnected, status }: { isConnected: boolean; status: number },
  retryMs: number,
): Result & { refusedField?: string | undefined } {
  const resendId = clean(data?.id)
  if (resendId) return { status: 'Sent', lastError: null, resendId }
  const name = clean(failure?.name) || 'unreadable answer'
  const message = clean(failure?.message)
  const lastError = isConnected ? `${status || ''} ${name}: ${message}`.trim() : `no connection: ${message}`
  // Resend did not take it: undo the try and pause all sending. `isRefused` also puts this mail behind the others.
  const notTaken = (pauseMs: number): Result => ({ status: 'Pending', lastError, isTryUndone: true, pauseMs })
  // Resend may have taken the mail, and another try will tell.
  const ambiguous: Result = { status: 'Pending', lastError, pauseMs: Math.min(retryMs, AMBIGUOUS_PAUSE_MAX_MS) }
  if (!isConnected) return notTaken(retryMs)
  if (name === 'daily_quota_exceeded' || name === 'monthly_quota_exceeded') return notTaken(QUOTA_PAUSE_MS)
  if (status === 429) return notTaken(readDelayMs(headers?.['retry-after']) ?? retryMs)
  if (name === 'concurrent_idempotent_requests') return ambiguous
  // An earlier try used the key with other content: the settings have changed since, and no try can tell.
  if (name === 'invalid_idempotent_request') return { status: 'Unknown', lastError }
  // The SDK's name for no answer, and for one that is not JSON: of a proxy, or of a firewall that rejects this mail.
  if (name === 'application_error' || status < 400 || status >= 500) return ambiguous
  if (isAboutMail(status, name, message)) return { status: 'Failed', lastError, refusedField: FIELD.exec(message)?.[1] }
  const misconfigured = notTaken(Math.min(retryMs * MISCONFIGURED_FACTOR, MISCONFIGURED_MAX_MS))
  return status === 401 ? misconfigured : { ...misconfigured, isRefused: true } // 401 is certainly about the key
}

/**
 * Whether a refusal is about this mail. Otherwise it is about the key, the sender or RESEND_BASE_URL.
 *   422 validation_error: Invalid `to` field.                             → this mail
 *   403 validation_error: You can only send testing emails … the `from` … → this mail
 *   422 validation_error: Invalid `from` field.                           → the sender
 *   400 validation_error: API key is invalid                              → the key
 */
function isAboutMail(status: number, name: string, message: string): boolean {
  if (!MAIL_ERRORS.includes(name)) return false
  if (CONCERNS_RECEIVER.test(message)) return true
  return !CONCERNS_SENDER.test(message) && (status === 422 || status === 451 || FIELD.test(message))
}

export function readDelayMs(value: string | null | undefined): number | undefined {
  const seconds = readNumber(value)
  return seconds === undefined ? undefined : Math.min(seconds, RETRY_AFTER_MAX_SECONDS) * 1000
}

export function readNumber(value: string | null | undefined): number | undefined {
  const number = Number(value || Number.NaN)
  return Number.isFinite(number) && number >= 0 ? number : undefined
}
