import { Resend } from 'resend'
import { brand } from '../../shared/brand.ts'
import type { Enquiry } from '../enquiries/enquiry.ts'
import { acknowledgement } from './acknowledgement.ts'
import { staffNotice } from './staff-notice.ts'

export type MailKind = 'Staff' | 'Acknowledgement'

/** What became of one try. */
export type Outcome =
  | { is: 'sent'; resendId: string; pauseMs?: number }
  /** Resend will never take this mail. */
  | { is: 'refused'; error: string }
  /** Resend did not take it now, for a reason that concerns all mails. */
  | { is: 'throttled' | 'misconfigured' | 'overQuota'; error: string; retryAfterMs?: number }
  /** It may or may not have been taken. */
  | { is: 'ambiguous'; error: string }

export interface Mailer {
  /** Never throws. Repeating the same mail within 24 hours sends it once. */
  send(kind: MailKind, enquiry: Enquiry, signal: AbortSignal): Promise<Outcome>
}

export interface MailerOptions {
  apiKey: string
  baseUrl?: string | undefined
  from: string
  staff: string[]
}

export function createMailer({ apiKey, baseUrl, from, staff }: MailerOptions): Mailer {
  const resend = new Resend(apiKey, baseUrl ? { baseUrl } : {})
  return {
    async send(kind, enquiry, signal) {
      const addressed =
        kind === 'Staff'
          ? { to: staff, replyTo: enquiry.email, ...staffNotice(enquiry) }
          : { to: enquiry.email, replyTo: brand.email, ...acknowledgement(enquiry) }
      const answer = await resend.emails.send(
        { from, ...addressed },
        { idempotencyKey: idempotencyKey(kind, enquiry), signal },
      )
      return readAnswer(answer)
    },
  }
}

export function idempotencyKey(kind: MailKind, enquiry: { id: string }): string {
  return `${kind === 'Staff' ? 'staff' : 'ack'}/${enquiry.id}`
}

/** What Resend's SDK hands back; of a faulty answer any part may be missing. */
interface Answer {
  data?: { id?: unknown } | null
  error?: { name?: unknown; statusCode?: unknown; message?: unknown } | null
  headers?: Record<string, string> | null
}

function readAnswer({ data, error, headers }: Answer): Outcome {
  if (typeof data?.id === 'string') {
    const exhausted = headers?.['ratelimit-remaining'] === '0'
    return {
      is: 'sent',
      resendId: data.id,
      ...(exhausted && { pauseMs: seconds(headers?.['ratelimit-reset']) ?? 1000 }),
    }
  }
  const status = Number(error?.statusCode ?? Number.NaN)
  const name = String(error?.name ?? 'unreadable answer')
  const text = `${Number.isNaN(status) ? '' : `${status} `}${name}: ${String(error?.message ?? '')}`.slice(0, 500)
  if (name === 'daily_quota_exceeded') return { is: 'overQuota', error: text }
  if (name === 'monthly_quota_exceeded') return { is: 'refused', error: text }
  if (status === 429 || name === 'rate_limit_exceeded') {
    const retryAfterMs = seconds(headers?.['retry-after'])
    return { is: 'throttled', error: text, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  }
  if (name === 'concurrent_idempotent_requests') return { is: 'ambiguous', error: text }
  // A 4xx that is not in Resend's own words comes from something in between: a wrong RESEND_BASE_URL, a proxy.
  if (status === 401 || status === 403 || (status < 500 && name === 'application_error')) {
    return { is: 'misconfigured', error: text }
  }
  if (status >= 400 && status < 500) return { is: 'refused', error: text }
  return { is: 'ambiguous', error: text }
}

/** A header's number of seconds, in milliseconds. */
function seconds(value: string | undefined): number | undefined {
  const number = Number(value)
  return value && Number.isFinite(number) && number >= 0 ? Math.min(number, 3600) * 1000 : undefined
}
