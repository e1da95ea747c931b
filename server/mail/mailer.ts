import { Resend } from 'resend'
import { type Outcome, type ResendAnswer, readOutcome } from './outcome.ts'

/** A mail as it goes to Resend, but for the sender. */
export interface Message {
  /** Repeating a message with its key within 24 hours sends it once. */
  idempotencyKey: string
  to: string[]
  replyTo?: string
  subject: string
  text: string
  html: string
}

export interface Answered<T> {
  outcome: T
  headers: Record<string, string> | null | undefined
}

interface LastEvent extends Answered<string | undefined> {
  /** Whether asking again would bring the same. */
  isAnswer: boolean
  /** Whether the key may only send. */
  restricted: boolean
}

export interface Mailer {
  /** Never throws. */
  send(message: Message, signal: AbortSignal): Promise<Answered<Outcome>>
  /** The last event of a mail that Resend has taken; undefined when it cannot be had. Never throws. */
  lastEvent(resendId: string, signal: AbortSignal): Promise<LastEvent>
}

export interface MailerOptions {
  apiKey: string
  baseUrl?: string | undefined
  from: string
}

const NO_REPLY_TO = 'Resend did not take the visitor’s address as the address for replies: write to it yourself.'

export function createMailer({ apiKey, baseUrl, from }: MailerOptions): Mailer {
  const resend = new Resend(apiKey, baseUrl ? { baseUrl } : {})

  async function trySending({ idempotencyKey, ...message }: Message, signal: AbortSignal) {
    const answer: ResendAnswer = await resend.emails.send({ from, ...message }, { idempotencyKey, signal })
    return { outcome: readOutcome(answer), headers: answer.headers }
  }

  return {
    async send(message, signal) {
      const answered = await trySending(message, signal)
      const { outcome } = answered
      const isReplyTo = outcome.is === 'refused' && /reply[_ -]?to/i.test(outcome.error)
      if (!isReplyTo || !message.replyTo) return answered
      const { replyTo: _, ...rest } = message
      const html = message.html.replace('</body>', `<p>${NO_REPLY_TO}</p></body>`)
      return trySending(
        {
          ...rest,
          idempotencyKey: `${message.idempotencyKey}/no-reply-to`,
          text: `${message.text}\n${NO_REPLY_TO}\n`,
          html,
        },
        signal,
      )
    },
    async lastEvent(resendId, signal) {
      const { data, error, headers } = await resend.emails.get(resendId, { signal })
      const status = error?.statusCode ?? undefined
      return {
        outcome: data?.last_event,
        headers,
        isAnswer: !error || (status !== undefined && status < 500 && status !== 429),
        restricted: error?.name === 'restricted_api_key',
      }
    },
  }
}
