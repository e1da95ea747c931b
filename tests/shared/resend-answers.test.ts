// What each answer of Resend, of its SDK, and of proxies and firewalls in between means for a mail.
import { describe, expect, it } from 'vitest'
import { type ResendAnswer, readDelayMs, readResult } from '../../server/mail/resend-answers.ts'

const PAUSE_MS = 5000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** As the SDK returns an answer in JSON. */
const json = (statusCode: number, name: string, message = 'x', headers: Record<string, string> = {}): ResendAnswer => ({
  data: null,
  error: { statusCode, name, message },
  headers,
})
/** As the SDK returns an answer that is no JSON, such as a page of a proxy. */
const page = (statusCode: number) => json(statusCode, 'application_error', 'Internal server error.')
/** As the SDK returns a failed fetch, and a success that is no JSON. */
const none: ResendAnswer = {
  data: null,
  error: { statusCode: null, name: 'application_error', message: 'Unable to fetch data.' },
  headers: null,
}

const ONLY_TO_OWNER =
  'You can only send testing emails to your own email address. … change the `from` address to an email using this domain.'

type Meaning = 'taken' | 'refused' | 'unknown' | 'unclear' | ['not taken', pauseMs: number]
const ours: Meaning = ['not taken', MINUTE_MS]

const answers: [what: string, answer: ResendAnswer, meaning: Meaning][] = [
  ['an id', { data: { id: '49a3' }, error: null, headers: {} }, 'taken'],
  ['no id', { data: {}, error: null, headers: {} }, 'unclear'],
  ['an id that is no text', { data: { id: {} }, error: null, headers: {} }, 'unclear'],
  ['nothing', {}, 'unclear'],
  ['refused connection, abort, garbage', none, 'unclear'],
  ['404 page of another site', page(404), 'unclear'],
  ['429 of a proxy', page(429), ['not taken', PAUSE_MS]],
  ['500', json(500, 'internal_server_error'), 'unclear'],
  ['JSON without a status', { data: null, error: { name: 'x', message: 'x' }, headers: {} }, 'unclear'],
  ['JSON that is a text', { data: null, error: 'no', headers: {} }, 'unclear'],
  ['429', json(429, 'rate_limit_exceeded'), ['not taken', PAUSE_MS]],
  ['429 that says how long', json(429, 'rate_limit_exceeded', 'x', { 'retry-after': '2' }), ['not taken', 2000]],
  ['429 that says too long', json(429, 'rate_limit_exceeded', 'x', { 'retry-after': '86400' }), ['not taken', HOUR_MS]],
  ['429 that says a date', json(429, 'rate_limit_exceeded', 'x', { 'retry-after': 'Fri' }), ['not taken', PAUSE_MS]],
  ['a limit without a status', json(0, 'rate_limit_exceeded'), ['not taken', PAUSE_MS]],
  ['the quota of the day', json(429, 'daily_quota_exceeded'), ['not taken', HOUR_MS]],
  ['the quota of the month', json(429, 'monthly_quota_exceeded'), ['not taken', HOUR_MS]],
  ['409 while the key is in use', json(409, 'concurrent_idempotent_requests'), 'unclear'],
  ['409 for other content', json(409, 'invalid_idempotent_request'), 'unknown'],
  ['409 of another kind', json(409, 'conflict'), ours],
  ['401 without a key', json(401, 'missing_api_key'), ours],
  ['403 wrong key', json(403, 'invalid_api_key'), ours],
  ['400 revoked key', json(400, 'validation_error', 'API key is invalid'), ours],
  ['403 unverified domain', json(403, 'validation_error', 'The x.in domain is not verified: from address'), ours],
  ['422 sender', json(422, 'validation_error', 'Invalid `from` field. The address needs to follow the format.'), ours],
  ['404 at a wrong address', json(404, 'not_found', 'Cannot POST /wrong/emails'), ours],
  ['422 without a name', json(422, ''), ours],
  ['422 under a new name', json(422, 'a_new_error', 'Invalid `to` field.'), ours],
  ['403 only to the owner', json(403, 'validation_error', ONLY_TO_OWNER), 'refused'],
  ['422 receiver', json(422, 'validation_error', 'Invalid `to` field. It needs to follow the format.'), 'refused'],
  ['400 receiver', json(400, 'validation_error', 'Invalid `to` field.'), 'refused'],
  ['422 reply address', json(422, 'validation_error', 'Invalid `reply_to` field.'), 'refused'],
  ['422 of no field', json(422, 'validation_error', 'The email is not valid.'), 'refused'],
  ['400 of no field', json(400, 'validation_error', 'Something is not valid.'), ours],
  ['422 missing field', json(422, 'missing_required_field', 'Missing `subject` field.'), 'refused'],
  ['451', json(451, 'security_error'), 'refused'],
]

describe('an answer', () => {
  it.each(answers)('%s', (_, answer, meaning) => {
    const [is, pauseMs] = [meaning].flat()
    expect(readResult(answer, PAUSE_MS)).toMatchObject(is === 'not taken' ? { is, pauseMs } : { is })
  })

  it('becomes one line of printable characters, and not a long one', () => {
    const read = readResult(
      json(422, 'validation_error', `a\u0000b\r\nc \u001b[31md\u202ee${'x'.repeat(9000)}`),
      PAUSE_MS,
    )
    expect(read).toMatchObject({ error: expect.stringMatching(/^422 validation_error: a b c \[31md ex+$/) })
    expect(read.is === 'refused' && read.error.length).toBeLessThan(600)
  })
})

it('a delay is a number of seconds, an hour at most', () => {
  const values = ['1', '0', '1.5', '99999', '-1', '', 'x', 'Infinity', null, undefined]
  expect(values.map(readDelayMs)).toEqual([1000, 0, 1500, HOUR_MS, ...Array(6).fill(undefined)])
})
