/** What became of one try to send a mail. */
export type Outcome =
  | { is: 'sent'; resendId: string }
  /** Resend will never take this mail. */
  | { is: 'refused'; error: string }
  /** Resend did not take it now, for a reason that concerns all mails. */
  | { is: 'throttled' | 'misconfigured' | 'overQuota'; error: string; retryAfterMs?: number }
  /** It may or may not have been taken. */
  | { is: 'ambiguous'; error: string }

/** What Resend's SDK hands back; of a faulty answer any part may be missing. */
export interface ResendAnswer {
  data?: { id?: unknown } | null
  error?: { name?: unknown; statusCode?: unknown; message?: unknown } | null
  headers?: Record<string, string> | null
}

const ERROR_MAX = 500
/** Errors that lie in the sender and not in this mail. */
const SENDER_ERRORS = ['invalid_from_address']

export function readOutcome({ data, error, headers }: ResendAnswer): Outcome {
  if (typeof data?.id === 'string') return { is: 'sent', resendId: data.id }
  const status = Number(error?.statusCode ?? Number.NaN)
  const name = String(error?.name ?? 'unreadable answer')
  const message = String(error?.message ?? '')
  const text = `${Number.isNaN(status) ? '' : `${status} `}${name}: ${message}`.slice(0, ERROR_MAX)
  if (name === 'daily_quota_exceeded' || name === 'monthly_quota_exceeded') return { is: 'overQuota', error: text }
  if (status === 429 || name === 'rate_limit_exceeded') {
    const retryAfterMs = readSeconds(headers?.['retry-after'])
    return { is: 'throttled', error: text, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  }
  if (name === 'concurrent_idempotent_requests') return { is: 'ambiguous', error: text }
  // A 4xx that is not in Resend's own words comes from something in between: a wrong RESEND_BASE_URL, a proxy.
  const isInBetween = status < 500 && name === 'application_error'
  const isSender = SENDER_ERRORS.includes(name) || (status === 422 && /[`"']from[`"']/.test(message))
  if (status === 401 || status === 403 || isInBetween || isSender) return { is: 'misconfigured', error: text }
  return { is: status >= 400 && status < 500 ? 'refused' : 'ambiguous', error: text }
}

/** A header's number of seconds, in milliseconds. */
function readSeconds(value: string | undefined): number | undefined {
  const number = Number(value)
  return value && Number.isFinite(number) && number >= 0 ? Math.min(number, 3600) * 1000 : undefined
}
