import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Resend } from 'resend'
import type { Env } from '../env.ts'
import { propertiesOf } from '../errors.ts'
import type { Result } from './queue.ts'
import { readResult } from './resend-answers.ts'
import { createTurns } from './turns.ts'

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

/** The name of the tag. */
export const TAG = 'mail'
/** The tag of a mail to one of its several receivers, who get it singly. */
const partTag = (tag: string) => `${tag}_part`
/** Reads both forms. */
export const TAG_VALUE = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(_part)?$/
/** What a notice says about replies, and what it says after Resend has refused the visitor's address as the one for replies. */
export const REPLY_GOES_TO_VISITOR = 'A reply to this mail goes to the visitor.'
const REPLY_IS_LOST =
  'A reply to this mail does not go to the visitor, because Resend refuses the address for replies: write to it yourself.'
/** Requests a second before Resend has named its limit, and after a 429 that names none. */
const FIRST_LIMIT = 2
/** Also for a service that takes mails, names no limit and refuses none. More would take the processor from orders. */
const LIMIT_MAX = 100
/** A little more than a second, because requests arrive unevenly. */
const LIMITED_MS = 1050

/** The client of Resend. */
export function createMailer(
  env: Pick<Env, 'RESEND_API_KEY' | 'RESEND_BASE_URL' | 'MAIL_FROM' | 'MAIL_RETRY_SECONDS'>,
) {
  const { RESEND_API_KEY: apiKey, RESEND_BASE_URL: baseUrl, MAIL_FROM: from, MAIL_RETRY_SECONDS: retrySeconds } = env
  const resend = new Resend(apiKey, baseUrl ? { baseUrl } : {})
  let limit: number | undefined
  const turns = createTurns(() => LIMITED_MS / (limit ?? FIRST_LIMIT))

  async function request({ tag, idempotencyKey, ...fields }: Message, signal: AbortSignal) {
    const tags = tag ? { tags: [{ name: TAG, value: tag }] } : {}
    const watch = watchRequest(idempotencyKey)
    const answer = await resend.emails
      .send({ from, ...fields, ...tags }, { idempotencyKey, signal })
      .finally(watch.stop)
    const named = Number.parseInt(answer.headers?.['ratelimit-limit'] ?? '', 10) // such as 2, or 2;w=1
    if (named > 0) limit = Math.min(named, LIMIT_MAX)
    else if (watch.seen.status === 429) limit = FIRST_LIMIT
    else if (answer.data) limit ??= LIMIT_MAX
    return readResult(answer, watch.seen, retrySeconds * 1000)
  }

  /** If Resend refuses the address for replies, sends without it; if it refuses one of several receivers, to each singly. */
  async function send(message: Message, signal: AbortSignal): Promise<Result> {
    const { refusedField, ...result } = await request(message, signal)
    if (refusedField === 'reply_to' && message.replyTo) {
      await turns.take(signal)
      return send(withoutReplyTo(message), signal)
    }
    if (refusedField === 'to' && message.to.length > 1) return sendSingly(message, signal, result)
    return result
  }

  async function sendSingly(message: Message, signal: AbortSignal, refusal: Result): Promise<Result> {
    const results: Result[] = []
    const turnOf = message.to.map(() => turns.take(signal)) // all at once, so that no new try delays the rest of this one
    for (const [at, address] of message.to.entries()) {
      await turnOf[at]
      const idempotencyKey = `${message.idempotencyKey}/${encodeURIComponent(address)}`
      const tagged = message.tag ? { tag: partTag(message.tag) } : {}
      const result = await send({ ...message, ...tagged, to: [address], idempotencyKey }, signal)
      results.push(result)
      if (isUndecided(result)) break
    }
    const sent = results.find(({ status }) => status === 'Sent')
    const refused = results.find(({ status }) => status === 'Failed')
    const undecided = results.find(isUndecided)
    if (!sent) return undecided ?? refused ?? refusal
    if (undecided) {
      // The mail is tried again, and the same keys send nothing twice. TriedAt stays: the first key's 24 hours count for all.
      const { isTryUndone: _, ...result } = undecided
      return result
    }
    if (refused) return { ...sent, lastError: `${refused.lastError} (for one of its receivers)` }
    return sent
  }

  return {
    /** Never throws. */
    send,
    turns,
  }
}

function isUndecided({ status }: Result): boolean {
  return status !== 'Sent' && status !== 'Failed'
}

function withoutReplyTo({ replyTo: _, ...message }: Message): Message {
  return {
    ...message,
    idempotencyKey: `${message.idempotencyKey}/no-reply-to`,
    text: message.text.replace(REPLY_GOES_TO_VISITOR, REPLY_IS_LOST),
    html: message.html.replace(REPLY_GOES_TO_VISITOR, REPLY_IS_LOST),
  }
}

/**
 * Watches the request with this idempotency key until `stop`. Node's fetch publishes what Resend's SDK hides: whether a
 * connection was made, without which nothing can have been sent, and the HTTP status, 0 if there was no answer.
 */
function watchRequest(idempotencyKey: string) {
  const seen = { isConnected: false, status: 0 }
  const isWatched = (event: unknown) =>
    String(propertiesOf(propertiesOf(event).request).headers).includes(idempotencyKey)
  const onConnected: ChannelListener = (event) => {
    if (isWatched(event)) seen.isConnected = true
  }
  const onAnswer: ChannelListener = (event) => {
    if (isWatched(event)) seen.status = Number(propertiesOf(propertiesOf(event).response).statusCode)
  }
  subscribe('undici:client:sendHeaders', onConnected)
  subscribe('undici:request:headers', onAnswer)
  return {
    seen,
    stop() {
      unsubscribe('undici:client:sendHeaders', onConnected)
      unsubscribe('undici:request:headers', onAnswer)
    },
  }
}
