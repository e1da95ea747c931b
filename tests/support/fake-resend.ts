import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { listen } from './listen.ts'

interface ReceivedMail {
  id: string
  key: string
  from: string
  to: string[]
  replyTo: string
  subject: string
  text: string
  html: string
  /** The value of the tag `mail`, which events bring back. */
  tag: string
}

/** How the fake answers the next calls. */
export type Behaviour = 'accept' | 'hang' | 'reset' | 'html' | Special

interface Special {
  /** Refuses with this answer. */
  status?: number
  name?: string
  message?: string
  headers?: Record<string, string>
  /** Takes a mail so late. */
  slowMs?: number
  /** Takes a mail at once and answers late. */
  answersAfterMs?: number
  /** Refuses further requests of a second, and names the limit. */
  limitASecond?: number
  /** As a firewall in front of it that does not like a mail's text. */
  blocks?: string
  /** Refuses each mail that has this address among its receivers. */
  refusesAddress?: string
}

export type FakeResend = Awaited<ReturnType<typeof startFakeResend>>

/** A real HTTP server that does what Resend documents: checks the request, remembers idempotency keys, limits rates. */
export async function startFakeResend() {
  const remembered = new Map<string, { body: string; id: string }>()
  let windowStart = 0
  let inWindow = 0
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  const fake = {
    ...(await listen(server)),
    /** Mails accepted for the first time; a repeat with the same key and content is answered and not added. */
    mails: [] as ReceivedMail[],
    /** Every call, how many of them were refused for exceeding the limit, and how many are not answered yet. */
    calls: { all: 0, limited: 0, underWay: 0 },
    behaviour: 'accept' as Behaviour,
    /** Is called with a mail before its sender is answered: events may be earlier than the sender's own record. */
    onMail: undefined as ((mail: ReceivedMail) => void) | undefined,
  }

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const body = await text(request)
    const key = String(request.headers['idempotency-key'] ?? '')
    const { behaviour } = fake
    const special: Special = typeof behaviour === 'object' ? behaviour : {}
    fake.calls.all++
    fake.calls.underWay++
    response.once('close', () => fake.calls.underWay--)
    const fail = (status: number, name = '', headers = {}, message = `the fake says ${name}`) =>
      json(response, status, { statusCode: status, name, message }, headers)
    if (behaviour === 'hang') return
    if (behaviour === 'reset') return request.socket.destroy()
    if (behaviour === 'html') return page(response, 502)
    if (special.blocks && body.includes(special.blocks)) return page(response, 403)
    if (special.status) return fail(special.status, special.name, special.headers, special.message)
    if (special.limitASecond && isOverLimit(special.limitASecond, response)) {
      fake.calls.limited++
      return fail(429, 'rate_limit_exceeded', { 'retry-after': response.getHeader('ratelimit-reset') })
    }
    await sleep(special.slowMs ?? 0)
    if (!request.headers.authorization?.startsWith('Bearer ')) return fail(401, 'missing_api_key')
    if (request.method !== 'POST' || request.url !== '/emails') return fail(404, 'not_found')
    const mail = JSON.parse(body)
    if (!mail.from || !mail.to || !mail.subject || !mail.text || !mail.html) return fail(422, 'missing_required_field')
    if (special.refusesAddress && [mail.to].flat().includes(special.refusesAddress))
      return fail(
        422,
        special.name ?? 'validation_error',
        {},
        'Invalid `to` field. The email address needs to follow the format.',
      )
    const tags: { name: string; value: string }[] = mail.tags ?? []
    if (tags.some(({ name, value }) => !/^[\w-]{1,256}$/.test(name) || !/^[\w-]{1,256}$/.test(value)))
      return fail(422, 'validation_error', {}, 'Invalid `tags` field.')
    const before = key ? remembered.get(key) : undefined
    if (before)
      return before.body === body ? json(response, 200, { id: before.id }) : fail(409, 'invalid_idempotent_request')
    const id = crypto.randomUUID()
    if (key) remembered.set(key, { body, id })
    const received = {
      ...mail,
      id,
      key,
      to: [mail.to].flat(),
      replyTo: [mail.reply_to].flat().join(),
      tag: tags.find(({ name }) => name === 'mail')?.value ?? '',
    }
    fake.mails.push(received)
    fake.onMail?.(received)
    await sleep(special.answersAfterMs ?? 0)
    json(response, 200, { id })
  }

  function isOverLimit(limit: number, response: ServerResponse) {
    if (Date.now() - windowStart >= 1000) {
      windowStart = Date.now()
      inWindow = 0
    }
    inWindow++
    response.setHeader('ratelimit-limit', limit)
    response.setHeader('ratelimit-remaining', Math.max(0, limit - inWindow))
    response.setHeader('ratelimit-reset', String(Math.ceil((windowStart + 1000 - Date.now()) / 1000)))
    return inWindow > limit
  }

  return fake
}

/** The staff address of the tests. */
export const STAFF = 'staff@quvera.test'

/** What a server needs in its environment to send through the fake, as fast as it takes mails. */
export function sendingThrough({ url }: Pick<FakeResend, 'url'>): Record<string, string> {
  return {
    RESEND_API_KEY: 're_test',
    RESEND_BASE_URL: url,
    MAIL_FROM: 'Quvera <enquiries@quvera.test>',
    STAFF_EMAILS: STAFF,
    MAIL_DAILY_BUDGET: '0',
    DIGEST_AT: 'off', // whatever the hour is
  }
}

function page(response: ServerResponse, status: number) {
  response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>No</h1>')
}

function json(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
