import { Resend } from 'resend'
import * as z from 'zod/mini'

/* All that comes from Resend enters here, and every text of it is cleaned here, before it is stored, shown or logged. */

/** A mail as it goes to Resend, but for the sender. */
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

/** What became of one try to send a mail. */
export type Outcome =
  | { is: 'sent'; resendId: string }
  /** Resend will never take this mail. */
  | { is: 'refused'; error: string }
  /** Resend did not take it now, for a reason that concerns all mails. */
  | { is: 'throttled' | 'misconfigured' | 'overQuota'; error: string; retryAfterMs?: number }
  /** It may or may not have been taken; `final` when asking again cannot tell either. */
  | { is: 'ambiguous'; error: string; final?: true }

/** Something Resend tells of a mail it has taken. */
export interface DeliveryEvent {
  /** Names the event: a repeat has the same. */
  id: string
  resendId: string
  /** Such as `email.delivered`. */
  type: string
  /** Whom it is about: of several receivers one, where Resend says so. */
  to?: string[]
  /** In Resend's words, and the code of the receiver's mail server. */
  reason?: string | undefined
}

export type Headers = Record<string, string> | null | undefined

export type Mailer = ReturnType<typeof createMailer>

const TEXT_MAX = 500
const NO_REPLY_TO = 'Resend did not take the visitor’s address as the address for replies: write to it yourself.'
/** Before a domain is verified, Resend sends to the owner of the account and nobody else. */
const ONLY_TO_OWNER = /testing emails/i
/** Errors that lie in the sender and not in this mail. */
const SENDER_ERRORS = ['invalid_from_address']

/** One line of printable characters, at most `TEXT_MAX`. */
export function clean(text: unknown): string {
  const short = typeof text === 'string' || typeof text === 'number' ? String(text).slice(0, TEXT_MAX) : ''
  return short.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
}

/** What it hands back never throws. */
export function createMailer(options: { apiKey: string; baseUrl?: string | undefined; from: string }) {
  const { apiKey, baseUrl, from } = options
  const resend = new Resend(apiKey, baseUrl ? { baseUrl } : {})

  async function trySending({ idempotencyKey, ...message }: Message, signal: AbortSignal) {
    const answer: ResendAnswer = await resend.emails.send({ from, ...message }, { idempotencyKey, signal })
    return { outcome: readOutcome(answer), headers: answer.headers }
  }

  return {
    async send(message: Message, signal: AbortSignal): Promise<{ outcome: Outcome; headers: Headers }> {
      const answered = await trySending(message, signal)
      const { outcome } = answered
      const isReplyTo = outcome.is === 'refused' && /reply[_ -]?to/i.test(outcome.error)
      if (!isReplyTo || !message.replyTo) return answered
      const { replyTo: _, ...rest } = message
      const again = {
        ...rest,
        idempotencyKey: `${message.idempotencyKey}/no-reply-to`,
        text: `${message.text}\n${NO_REPLY_TO}\n`,
        html: message.html.replace('</body>', `<p>${NO_REPLY_TO}</p></body>`),
      }
      return trySending(again, signal)
    },
    /** The newest event of a mail; none when Resend does not answer. `forbidden`: the key may only send. */
    async ask(resendId: string, signal: AbortSignal) {
      const { data, error, headers } = await resend.emails.get(resendId, { signal })
      const type = clean(data?.last_event)
      return {
        headers,
        forbidden: error?.name === 'restricted_api_key',
        ...(type && { event: { id: `check/${resendId}`, resendId, type: `email.${type}` } }),
      }
    },
  }
}

/** What Resend's SDK hands back; of a faulty answer any part may be missing. */
interface ResendAnswer {
  data?: { id?: unknown } | null
  error?: { name?: unknown; statusCode?: unknown; message?: unknown } | null
  headers?: Headers
}

function readOutcome({ data, error, headers }: ResendAnswer): Outcome {
  const resendId = clean(data?.id)
  if (resendId) return { is: 'sent', resendId }
  const status = Number(error?.statusCode ?? Number.NaN)
  const name = clean(error?.name) || 'unreadable answer'
  const message = clean(error?.message)
  const text = `${Number.isNaN(status) ? '' : `${status} `}${name}: ${message}`
  if (name === 'daily_quota_exceeded' || name === 'monthly_quota_exceeded') return { is: 'overQuota', error: text }
  if (status === 429 || name === 'rate_limit_exceeded') {
    const retryAfterMs = readSeconds(headers?.['retry-after'])
    return { is: 'throttled', error: text, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  }
  if (name === 'concurrent_idempotent_requests') return { is: 'ambiguous', error: text }
  // Its key was taken with other words: an earlier try, before the addresses or the enquiries in it changed.
  if (name === 'invalid_idempotent_request') return { is: 'ambiguous', error: text, final: true }
  // A 4xx that is not in Resend's own words comes from something in between: a wrong RESEND_BASE_URL, a proxy.
  const isInBetween = status < 500 && name === 'application_error'
  const isSender = SENDER_ERRORS.includes(name) || (status === 422 && /[`"']from[`"']/.test(message))
  if (status === 403 && ONLY_TO_OWNER.test(message)) return { is: 'refused', error: text }
  if (status === 401 || status === 403 || isInBetween || isSender) return { is: 'misconfigured', error: text }
  return { is: status >= 400 && status < 500 ? 'refused' : 'ambiguous', error: text }
}

/** A header's number of seconds, in milliseconds. */
export function readSeconds(value: string | null | undefined): number | undefined {
  const seconds = readNumber(value)
  return seconds === undefined ? undefined : Math.min(seconds, 3600) * 1000
}

export function readNumber(value: string | null | undefined): number | undefined {
  const number = Number(value)
  return value && Number.isFinite(number) && number >= 0 ? number : undefined
}

const text = z.pipe(
  z.string(),
  z.transform((words: string) => clean(words)),
)
const eventSchema = z.object({
  type: text,
  data: z.object({
    email_id: text,
    to: z.optional(z.array(text)),
    bounce: z.optional(
      z.object({ type: z.optional(text), subType: z.optional(text), message: z.optional(z.string()) }),
    ),
    failed: z.optional(z.object({ reason: z.optional(text) })),
  }),
})

/** The event of a webhook's body; undefined for one that is not about a mail. */
export function readEvent(id: string, body: unknown): DeliveryEvent | undefined {
  const { success, data: event } = eventSchema.safeParse(body)
  if (!success) return undefined
  const { email_id: resendId, to = [], bounce, failed } = event.data
  const words = [bounce?.type, bounce?.subType, replyCode(bounce?.message), failed?.reason]
  return { id: clean(id), resendId, type: event.type, to, reason: words.filter(Boolean).join(' ') || undefined }
}

/** `550 5.1.1`: of what a stranger's mail server says nothing but its code is kept. */
export function replyCode(words = ''): string | undefined {
  return /\b[245]\d\d\b(?:[ -]?[245]\.\d{1,3}\.\d{1,3}\b)?/.exec(words)?.[0]
}
