import { propertiesOf } from '../errors.ts'
import type { Answer } from './states.ts'

/* What an answer of Resend means for a mail. Every text of a stranger is cleaned before it is stored, shown or logged. */

/** What the SDK returns; any part may be missing. Without an answer `headers` is null. */
export interface ResendAnswer {
  data?: unknown
  error?: unknown
  headers?: Record<string, string> | null
}

const TEXT_MAX = 500
/** After an answer about RESEND_API_KEY, MAIL_FROM or RESEND_BASE_URL: somebody has to correct it first. */
const SETTINGS_PAUSE_MS = 60_000
const QUOTA_PAUSE_MS = 3_600_000
const RETRY_AFTER_MAX_SECONDS = 3600
/** Resend's names for a mail that it will never take, if its message names a field of the mail or none. */
const MAIL_ERRORS = [
  'validation_error',
  'missing_required_field',
  'invalid_parameter',
  'invalid_attachment',
  'security_error',
]
/** In the message of an error, such as: Invalid `to` field. */
const FIELD = /[`'"](?:to|reply_to|subject|text|html|headers|tags)[`'"]/
const FROM_OR_KEY = /[`'"]from[`'"]|\bfrom (?:address|field)\b|: from\b|api key/i
/** Before a domain is verified, Resend sends to the owner of the account and nobody else. Its message names `from` too. */
const RECEIVER = /testing emails/i

/** One line of printable characters, at most `TEXT_MAX`. */
export function clean(text: unknown): string {
  const short = typeof text === 'string' || typeof text === 'number' ? String(text).slice(0, TEXT_MAX) : ''
  return short.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
}

/** The SMTP reply code, such as `550 5.1.1`. The rest is text of a stranger's mail server. */
export function replyCode(text: unknown): string | undefined {
  return /\b[245]\d\d\b(?:[ -]?[245]\.\d{1,3}\.\d{1,3}\b)?/.exec(String(text))?.[0]
}

/** @param pauseMs after a limit that does not say how long */
export function readResult({ data, error: failure, headers }: ResendAnswer, pauseMs: number): Answer {
  const resendId = clean(propertiesOf(data).id)
  if (resendId) return { is: 'taken', resendId }
  const properties = propertiesOf(failure)
  const status = Number(properties.statusCode) || 0
  const name = clean(properties.name) || 'unreadable answer'
  const message = clean(properties.message)
  if (!headers) return { is: 'unclear', error: `no answer: ${message}` }
  const error = `${status || ''} ${name}: ${message}`.trim()
  if (name === 'daily_quota_exceeded' || name === 'monthly_quota_exceeded')
    return { is: 'not taken', error, pauseMs: QUOTA_PAUSE_MS }
  if (status === 429 || name === 'rate_limit_exceeded')
    return { is: 'not taken', error, pauseMs: readDelayMs(headers['retry-after']) ?? pauseMs }
  // An earlier try used the key with other content: the enquiry or the settings have changed since, and no try can tell.
  if (name === 'invalid_idempotent_request') return { is: 'unknown', error }
  if (name === 'concurrent_idempotent_requests') return { is: 'unclear', error }
  // The SDK's name for an answer that is no JSON: of a proxy, or of a firewall that rejects this mail.
  if (name === 'application_error' || status < 400 || status >= 500) return { is: 'unclear', error }
  if (isAboutMail(status, name, message)) return { is: 'refused', error }
  return { is: 'not taken', error, pauseMs: Math.max(pauseMs, SETTINGS_PAUSE_MS) }
}

/**
 * Whether a refusal is about this mail. Otherwise it is about RESEND_API_KEY, MAIL_FROM or RESEND_BASE_URL.
 *   422 validation_error: Invalid `to` field.                             → this mail
 *   403 validation_error: You can only send testing emails … the `from` … → this mail
 *   422 validation_error: Invalid `from` field.                           → MAIL_FROM
 *   400 validation_error: API key is invalid                              → RESEND_API_KEY
 */
function isAboutMail(status: number, name: string, message: string): boolean {
  if (!MAIL_ERRORS.includes(name)) return false
  if (RECEIVER.test(message)) return true
  return !FROM_OR_KEY.test(message) && (status === 422 || status === 451 || FIELD.test(message))
}

export function readDelayMs(value: string | null | undefined): number | undefined {
  const seconds = Number(value || Number.NaN)
  if (!Number.isFinite(seconds) || seconds < 0) return undefined
  return Math.min(seconds, RETRY_AFTER_MAX_SECONDS) * 1000
}
