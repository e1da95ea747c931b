import { Resend } from 'resend'
import type { Env } from '../env.ts'
import { readResult } from './resend-answers.ts'
import type { Answer } from './states.ts'

export interface Message {
  /** The tag of the mail. Repeating a message under it within 24 hours sends it once, and delivery events bring it back. */
  tag: string
  to: string
  replyTo?: string
  subject: string
  text: string
  html: string
  headers?: Record<string, string>
}

/** The name of the tag at Resend. */
export const TAG_NAME = 'mail'
/** Answers of absence and other programs are asked not to reply. */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'OOF, AutoReply' }
/** Requests a second before Resend has named its limit, and after a 429 that names none. */
const FIRST_LIMIT = 2
/** Also for a service that takes mails, names no limit and refuses none. More would take the processor from orders. */
const LIMIT_MAX = 100
/** A little more than a second, because requests arrive unevenly. */
const LIMITED_MS = 1050

/** The client of Resend. */
export function createMailer(env: Env) {
  const { RESEND_API_KEY: apiKey, RESEND_BASE_URL: baseUrl, MAIL_FROM: from, MAIL_RETRY_SECONDS: retrySeconds } = env
  const resend = new Resend(apiKey, baseUrl ? { baseUrl } : {})
  let limit = FIRST_LIMIT

  return {
    /** Between the beginnings of two requests. */
    intervalMs: () => LIMITED_MS / limit,
    /** One request. Never throws. */
    async send({ tag, headers, ...fields }: Message, signal: AbortSignal): Promise<Answer> {
      const payload = { from, ...fields, headers: { ...AUTOMATIC, ...headers }, tags: [{ name: TAG_NAME, value: tag }] }
      const result = await resend.emails.send(payload, { idempotencyKey: tag, signal })
      const answer = readResult(result, retrySeconds * 1000)
      const named = Number.parseInt(result.headers?.['ratelimit-limit'] ?? '', 10) // such as 2, or 2;w=1
      if (named > 0) limit = Math.min(named, LIMIT_MAX)
      else if (answer.is === 'taken') limit = LIMIT_MAX
      else if (answer.is === 'not taken') limit = FIRST_LIMIT
      return answer
    },
  }
}
