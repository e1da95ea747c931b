import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { Resend } from 'resend'
import type { Env } from '../env.ts'
import { propertiesOf } from '../errors.ts'
import type { Result } from './queue.ts'
import { readNumber, readResult } from './resend-answers.ts'

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
const NO_REPLY_TO = 'Resend did not take the visitor’s address as the address for replies: write to it yourself.'
/** Requests a second, until an answer names Resend's limit for the whole team. */
const FIRST_LIMIT = 2
/** Also for a service that takes mails and names no limit. A higher one would take the processor from orders. */
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
  const intervalMs = () => LIMITED_MS / (limit ?? FIRST_LIMIT)

  async function request({ tag, idempotencyKey, ...fields }: Message, signal: AbortSignal) {
    const tags = tag ? { tags: [{ name: TAG, value: tag }] } : {}
    const watch = watchRequest(idempotencyKey)
    const answer = await resend.emails
      .send({ from, ...fields, ...tags }, { idempotencyKey, signal })
      .finally(watch.stop)
    const named = readNumber(answer.headers?.['ratelimit-limit'])
    if (named) limit = Math.min(named, LIMIT_MAX)
    else if (answer.data) limit ??= LIMIT_MAX
    return readResult(answer, watch.seen, retrySeconds * 1000)
  }

  /** If Resend refuses the address for replies, sends without it; if it refuses one of several receivers, to each singly. */
  async function send(message: Message, signal: AbortSignal): Promise<Result> {
    const { refusedField, ...result } = await request(message, signal)
    if (refusedField === 'reply_to' && message.replyTo) return send(withoutReplyTo(message), signal)
    if (refusedField === 'to' && message.to.length > 1) return sendSingly(message, signal, result)
    return result
  }

  async function sendSingly(message: Message, signal: AbortSignal, refusal: Result): Promise<Result> {
    const results: Result[] = []
    for (const address of message.to) {
      await sleep(intervalMs(), undefined, { signal }).catch(() => undefined)
      const idempotencyKey = `${message.idempotencyKey}/${encodeURIComponent(address)}`
      const tagged = message.tag ? { tag: partTag(message.tag) } : {}
      results.push(await send({ ...message, ...tagged, to: [address], idempotencyKey }, signal))
    }
    const sent = results.find(({ to }) => to === 'Sent')
    const refused = results.find(({ to }) => to === 'Failed')
    const undecided = results.filter(({ to }) => to !== 'Sent' && to !== 'Failed')
    // One that may have gone out, or else any: the mail counts as unsent only if it is certain that it went to nobody.
    const toRepeat = undecided.find(({ isCertainlyUnsent }) => !isCertainlyUnsent) ?? undecided[0]
    // First an undecided one: the mail is tried again, and the same keys send nothing twice. Then one that was accepted.
    if (toRepeat && sent) {
      const { isCertainlyUnsent: _, ...result } = toRepeat // TriedAt stays: the 24 hours of the first key count for all
      return result
    }
    if (!sent) return toRepeat ?? refused ?? refusal
    return refused ? { ...sent, lastError: `${refused.lastError} (for one of its receivers)` } : sent
  }

  return {
    /** Never throws. */
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
