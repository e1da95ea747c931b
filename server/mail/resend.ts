import { Resend } from 'resend'
import type { Env } from '../env.ts'
import { propertiesOf } from '../errors.ts'

/* The client of Resend. It cleans every text of Resend's before it is stored, shown or logged. */

export interface Message {
  /** Repeating a message with its key within 24 hours sends it once. */
  idempotencyKey: string
  to: string[]
  replyTo?: string
  subject: string
  text: string
  html: string
  headers?: Record<string, string>
}

export type Outcome =
  | { is: 'sent'; resendId: string }
  /**
   * `refused`: Resend will never take this mail. `ambiguous`: it may have taken it, and another try will tell.
   * `unknowable`: it may have taken it, and no try can tell.
   */
  | { is: 'refused' | 'ambiguous' | 'unknowable'; error: string }
  /** Resend did not take it now, for a reason that concerns all mails. */
  | { is: 'throttled' | 'misconfigured' | 'overQuota'; error: string; retryAfterMs?: number | undefined }

export interface DeliveryEvent {
  /** A repeat of the event has the same. */
  id: string
  resendId: string
  type: string
  reason?: string | undefined
}

export type ResponseHeaders = Record<string, string> | null | undefined

export type Mailer = ReturnType<typeof createMailer>

/** What the SDK returns; any part may be missing. */
interface ResendAnswer {
  data?: { id?: unknown } | null
  error?: { name?: unknown; statusCode?: unknown; message?: unknown } | null
  headers?: ResponseHeaders
}

const TEXT_MAX = 500
const NO_REPLY_TO = 'Resend did not take the visitor’s address as the address for replies: write to it yourself.'

/** One line of printable characters, at most `TEXT_MAX`. */
export function clean(text: unknown): string {
  const short = typeof text === 'string' || typeof text === 'number' ? String(text).slice(0, TEXT_MAX) : ''
  return short.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
}

/** Its functions never throw. */
export function createMailer(env: Pick<Env, 'RESEND_API_KEY' | 'RESEND_BASE_URL' | 'MAIL_FROM'>) {
  const { RESEND_API_KEY: apiKey, RESEND_BASE_URL: baseUrl, MAIL_FROM: from } = env
  const resend = new Resend(apiKey, baseUrl ? { baseUrl } : {})

  /** If Resend refuses the reply address, sends once more without it. */
  async function send(message: Message, signal: AbortSignal): Promise<{ outcome: Outcome; headers: ResponseHeaders }> {
    const { idempotencyKey, ...fields } = message
    const answer: ResendAnswer = await resend.emails.send({ from, ...fields }, { idempotencyKey, signal })
    const outcome = readOutcome(answer)
    const isReplyToRefused = outcome.is === 'refused' && /reply[_ -]?to/i.test(outcome.error)
    if (isReplyToRefused && message.replyTo) return send(withoutReplyTo(message), signal)
    return { outcome, headers: answer.headers }
  }

  return {
    send,
    /** The newest event of a mail; none when Resend does not answer. `forbidden`: the key may only send. */
    async readNewestEvent(resendId: string, signal: AbortSignal) {
      const { data, error, headers } = await resend.emails.get(resendId, { signal })
      const type = clean(data?.last_event)
      const event: DeliveryEvent = { id: `check/${resendId}`, resendId, type: `email.${type}` }
      return { headers, forbidden: error?.name === 'restricted_api_key', event: type ? event : undefined }
    },
  }
}

function withoutReplyTo({ replyTo: _, ...message }: Message): Message {
  return {
    ...message,
    idempotencyKey: `${message.idempotencyKey}/no-reply-to`,
    text: `${message.text}\n${NO_REPLY_TO}\n`,
    html: message.html.replace('</body>', `<p>${NO_REPLY_TO}</p></body>`),
  }
}

function readOutcome({ data, error: failure, headers }: ResendAnswer): Outcome {
  const resendId = clean(data?.id)
  if (resendId) return { is: 'sent', resendId }
  const status = Number(failure?.statusCode ?? Number.NaN)
  const name = clean(failure?.name) || 'unreadable answer'
  const message = clean(failure?.message)
  const error = `${Number.isNaN(status) ? '' : `${status} `}${name}: ${message}`
  if (name === 'daily_quota_exceeded' || name === 'monthly_quota_exceeded') return { is: 'overQuota', error }
  if (status === 429 || name === 'rate_limit_exceeded')
    return { is: 'throttled', error, retryAfterMs: readDelayMs(headers?.['retry-after']) }
  if (name === 'concurrent_idempotent_requests') return { is: 'ambiguous', error }
  // An earlier try used the key with other content: the settings have changed since.
  if (name === 'invalid_idempotent_request') return { is: 'unknowable', error }
  // Before a domain is verified, Resend sends to the owner of the account and nobody else.
  if (status === 403 && /testing emails/i.test(message)) return { is: 'refused', error }
  // Not an answer of Resend's: it comes from a proxy, from a firewall that rejects this mail, or from a wrong RESEND_BASE_URL.
  if (name === 'application_error') return { is: 'ambiguous', error }
  const isSender = name === 'invalid_from_address' || (status === 422 && /[`"']from[`"']/.test(message))
  if (status === 401 || status === 403 || isSender) return { is: 'misconfigured', error }
  return { is: status >= 400 && status < 500 ? 'refused' : 'ambiguous', error }
}

export function readDelayMs(value: string | null | undefined): number | undefined {
  const seconds = readNumber(value)
  return seconds === undefined ? undefined : Math.min(seconds, 3600) * 1000
}

export function readNumber(value: string | null | undefined): number | undefined {
  const number = Number(value || Number.NaN)
  return Number.isFinite(number) && number >= 0 ? number : undefined
}

/** The event of a webhook's body; undefined for one that is not about a mail. */
export function readEvent(id: string, body: unknown): DeliveryEvent | undefined {
  const { type, data } = propertiesOf(body)
  const { email_id: resendId, bounce, failed } = propertiesOf(data)
  if (!clean(resendId)) return undefined
  const { type: bounceType, subType, message } = propertiesOf(bounce)
  const reason = [bounceType, subType, replyCode(message), propertiesOf(failed).reason]
    .map(clean)
    .filter(Boolean)
    .join(' ')
  return { id: clean(id), resendId: clean(resendId), type: clean(type), reason: reason || undefined }
}

/** The SMTP reply code, such as `550 5.1.1`. The rest is text of a stranger's mail server. */
export function replyCode(text: unknown): string | undefined {
  return /\b[245]\d\d\b(?:[ -]?[245]\.\d{1,3}\.\d{1,3}\b)?/.exec(String(text))?.[0]
}
