import { setTimeout as sleep } from 'node:timers/promises'
import { Resend } from 'resend'
import type { Env } from '../env.ts'
import { watchRequest } from './request-watch.ts'
import { type Outcome, type ResendAnswer, readNumber, readOutcome } from './resend-answers.ts'
import type { NewSignal } from './sender.ts'

export interface Message {
  /** Repeating a message with its key within 24 hours sends it once. */
  idempotencyKey: string
  /** Delivery events bring it back. */
  tag?: string
  to: string[]
  replyTo?: string
  subject: string
  text: string
  html: string
  headers?: Record<string, string>
}

export type Mailer = ReturnType<typeof createMailer>

/** The name of the tag. */
export const TAG = 'mail'
const NO_REPLY_TO = 'Resend did not take the visitor’s address as the address for replies: write to it yourself.'
/** Requests a second, until an answer names Resend's limit for the whole team. */
const FIRST_LIMIT = 2
/** Also for a service that takes mails and names no limit. A higher one would take the processor from orders. */
const LIMIT_MAX = 100
/** A little more than a second, because requests arrive unevenly. */
const LIMITED_MS = 1050

/** The client of Resend. `send` never throws. */
export function createMailer(env: Pick<Env, 'RESEND_API_KEY' | 'RESEND_BASE_URL' | 'MAIL_FROM'>) {
  const { RESEND_API_KEY: apiKey, RESEND_BASE_URL: baseUrl, MAIL_FROM: from } = env
  const resend = new Resend(apiKey, baseUrl ? { baseUrl } : {})
  let limit: number | undefined
  const intervalMs = () => LIMITED_MS / (limit ?? FIRST_LIMIT)

  async function request({ idempotencyKey, tag, ...fields }: Message, signal: AbortSignal): Promise<Outcome> {
    const tags = tag ? { tags: [{ name: TAG, value: tag }] } : {}
    const watch = watchRequest(idempotencyKey)
    const answer: ResendAnswer = await resend.emails.send({ from, ...fields, ...tags }, { idempotencyKey, signal })
    const named = readNumber(answer.headers?.['ratelimit-limit'])
    if (named) limit = Math.min(named, LIMIT_MAX)
    else if (answer.data) limit ??= LIMIT_MAX
    return readOutcome(answer, watch.stop())
  }

  /** If Resend refuses the address for replies, sends without it; if it refuses one of several receivers, to each singly. */
  async function send(message: Message, newSignal: NewSignal): Promise<Outcome> {
    const outcome = await request(message, newSignal())
    if (outcome.is !== 'refused') return outcome
    if (outcome.field === 'reply_to' && message.replyTo) return send(withoutReplyTo(message), newSignal)
    if (outcome.field === 'to' && message.to.length > 1) return sendSingly(message, newSignal, outcome)
    return outcome
  }

  async function sendSingly(message: Message, newSignal: NewSignal, outcome: Outcome): Promise<Outcome> {
    const outcomes: Outcome[] = []
    for (const address of message.to) {
      await sleep(intervalMs())
      const idempotencyKey = `${message.idempotencyKey}/${encodeURIComponent(address)}`
      outcomes.push(await send({ ...message, to: [address], idempotencyKey }, newSignal))
    }
    const [sent] = outcomes.filter((each) => each.is === 'sent')
    const [refused] = outcomes.filter((each) => each.is === 'refused')
    const [open] = outcomes.filter((each) => each.is !== 'sent' && each.is !== 'refused')
    if (!sent) return open ?? refused ?? outcome
    // Once one was sent, the keys of all expire together.
    if (open) return { is: 'ambiguous', error: open.error }
    return refused ? { ...sent, notTo: refused.error } : sent
  }

  return {
    send,
    /** From the beginning of one try to that of the next. */
    intervalMs,
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
