// A stored enquiry is posted to NOTIFY_URL, again under the same id after a failure, and delays no order or mail.

import type { ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { readEnv } from '../../../server/env.ts'
import { createPostChannel, sendPost } from '../../../server/mail/post-channel.ts'
import { backOffMs, retryMails } from '../../../server/mail/queue.ts'
import { insertEnquiries, toInsertRow } from '../../../server/orders/storing.ts'
import { brand } from '../../../shared/brand.ts'
import { products } from '../../../shared/catalogue.ts'
import { anOrder, submit } from '../../support/an-order.ts'
import { atEnd } from '../../support/at-end.ts'
import { eventually } from '../../support/eventually.ts'
import { startFakeReceiver } from '../../support/fake-receiver.ts'
import { STAFF } from '../../support/fake-resend.ts'
import { anApp, theApp } from '../../support/fixtures.ts'
import { staff } from '../../support/staff-command.ts'
import { hoursAgo } from '../../support/stored-enquiry.ts'
import type { TestApp } from '../../support/test-app.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const receiver = await startFakeReceiver()
afterAll(receiver.close)
const notify = { NOTIFY_URL: receiver.url, NOTIFY_SECRET: SECRET, NOTIFY_FORMAT: 'json' } as const
/** It stores posts; each test starts what sends them. */
const app = await theApp({ notify })
await app.senders.stop(0)
beforeEach(() => {
  receiver.posts.length = 0
  status(204)
})

function status(code: number, headers = {}) {
  receiver.answer = (response) => response.writeHead(code, headers).end('no such hook')
}
/** Without a key only posts are sent. */
function startSenders(changes: Parameters<TestApp['startSenders']>[0] = {}) {
  const senders = app.startSenders({ apiKey: '', ...changes })
  atEnd(() => senders.stop(1000))
  return senders
}
const order = async (changes = {}) => (await submit(app.url, anOrder(changes))).reference ?? ''
const posts = () => app.db.mail.findMany({ where: { kind: 'Post' }, orderBy: { id: 'asc' } })
const untilPostsAre = (...states: string[]) =>
  eventually(async () => expect((await posts()).map((row) => row.status)).toEqual(states))
const dueNow = () => app.db.mail.updateMany({ where: { status: 'Pending' }, data: { dueAt: new Date() } })
const verify = ({ headers, body }: { headers: object; body: string } = { headers: {}, body: '' }) =>
  new Webhook(SECRET).verify(body, headers as Record<string, string>)

describe('an enquiry is posted to NOTIFY_URL', () => {
  it('as a line for a chat, without personal data', async () => {
    const reference = await order({ quantity: 7 })
    startSenders({ NOTIFY_FORMAT: 'text' })
    await untilPostsAre('Sent')
    const [post] = receiver.posts
    const text = `${brand.name} enquiry ${reference}: 7 × ${products[0]}, Retailer`
    expect(JSON.parse(post?.body ?? '')).toEqual({ text })
    expect([post?.path, post?.headers['content-type']]).toEqual(['/services/T0/B0/s3cret-path', 'application/json'])
  })

  it('as signed JSON that the official library verifies', async () => {
    const { submissionKey, ...fields } = anOrder({ name: 'Zoë <b>"Ω"</b>' })
    const reference = await order({ ...fields, submissionKey })
    startSenders()
    await untilPostsAre('Sent')
    const [row] = await app.db.enquiry.findMany()
    const data = { id: row?.id, ...fields, reference, suspectedSpam: false }
    const timestamp = row?.receivedAt.toISOString()
    expect(verify(receiver.posts[0])).toMatchObject({ type: 'enquiry.stored', timestamp, data })
  })

  it('but neither suspected spam, nor one that a process without NOTIFY_URL stored', async () => {
    await order({ website: 'x' })
    await insertEnquiries(app.db, [toInsertRow(anOrder())], { STAFF_EMAILS: [STAFF] })
    const reference = await order()
    startSenders()
    await untilPostsAre('Sent')
    expect(receiver.posts.map(({ body }) => JSON.parse(body).data.reference)).toEqual([reference])
  })

  it('also while Resend hangs; and what only posts does not keep another process from mailing', async () => {
    app.resend.behaviour = 'hang'
    await order()
    const keyed = startSenders({ apiKey: 're_test' })
    await untilPostsAre('Sent')
    app.resend.behaviour = 'accept'
    await keyed.stop(0)
    await dueNow()
    startSenders()
    startSenders({ apiKey: 're_test' })
    await eventually(() => expect(app.resend.mails).toHaveLength(2))
  })
})

describe('an answer of NOTIFY_URL', () => {
  it.each<[string, (response: ServerResponse) => unknown, object]>([
    ['204', (response) => response.writeHead(204).end(), { isAccepted: true, status: 'HTTP 204' }],
    ['500', (response) => response.writeHead(500).end('no'), { isAccepted: false, status: 'HTTP 500', answer: 'no' }],
    ['a redirect', (response) => response.writeHead(302, { location: '/x' }).end(), { status: 'HTTP 302' }],
    ['429', (response) => response.writeHead(429, { 'retry-after': '7' }).end(), { retryAfterMs: 7000 }],
    ['410', (response) => response.writeHead(410).end(), { isAccepted: false, isGone: true }],
    ['a reset', (response) => response.destroy(), { isAccepted: false, status: 'UND_ERR_SOCKET' }],
    ['none', () => {}, { isAccepted: false, status: 'TimeoutError' }],
  ])('%s is read as far as it is shown', async (what, answer, meaning) => {
    receiver.answer = answer
    const signal = AbortSignal.timeout(what === 'none' ? 100 : 10_000)
    expect(await sendPost({ url: receiver.url, secret: SECRET }, 'msg_1', '{}', signal)).toMatchObject(meaning)
    expect(receiver.posts).toHaveLength(1)
  })
})

describe('while NOTIFY_URL fails', () => {
  it('the enquiry is stored, and posted later under the same id, of which the log tells without the address', async () => {
    status(500)
    await order()
    startSenders()
    await eventually(async () => expect(await posts()).toMatchObject([{ status: 'Pending', lastError: 'HTTP 500' }]))
    status(200)
    await dueNow()
    await untilPostsAre('Sent')
    expect(new Set(receiver.posts.map(({ headers, body }) => headers['webhook-id'] + body)).size).toBe(1)
    verify(receiver.posts.at(-1))
    expect(app.logLines.join()).not.toContain('s3cret-path')
    expect(app.logLines.join()).toContain(`"to":"${new URL(receiver.url).origin}","attempt":1,"reason":"HTTP 500"`)
  })

  it('one process posts for all and waits as long as the answer asks for, and then all are sent', async () => {
    const times: number[] = []
    receiver.answer = (response) => {
      const isFirst = times.push(performance.now()) === 1
      response.writeHead(isFirst ? 429 : 204, isFirst ? { 'retry-after': '1' } : {}).end()
    }
    for (let index = 0; index < 3; index++) await order()
    for (const _ of ['one', 'another', 'a third']) startSenders()
    await untilPostsAre('Sent', 'Sent', 'Sent')
    expect(times).toHaveLength(4)
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(990)
  })

  it('a post that was not tried goes before those that were: a receiver that hangs does not hold up new enquiries', async () => {
    await order()
    const tried = { attempts: 1, firstTriedAt: new Date(), dueAt: new Date(Date.now() - 60_000) }
    await app.db.mail.updateMany({ where: { kind: 'Post' }, data: tried })
    const reference = await order()
    startSenders()
    await untilPostsAre('Sent', 'Sent')
    expect(receiver.posts[0]?.body).toContain(reference)
  })

  it('410 fails the post, with an error in the log; staff may retry it', async () => {
    status(410)
    const reference = await order()
    startSenders()
    await untilPostsAre('Failed')
    expect(app.loggedErrors()).toMatchObject([{ reason: 'HTTP 410', msg: expect.stringContaining('not tried again') }])
    const { stdout } = await staff(['mails'], app.env)
    expect(stdout).toMatch(/^Not sent, and not tried again \(1\)\n.*\n.*Post .*HTTP 410/m)
    status(200)
    await staff(['mails', 'retry', reference, '--yes'], app.env)
    await untilPostsAre('Sent')
    expect(receiver.posts[1]?.headers['webhook-id']).not.toBe(receiver.posts[0]?.headers['webhook-id'])
  })

  it('a post fails for good after twelve tries, the last one some 17 hours after the first', async () => {
    status(500)
    await order()
    const channel = createPostChannel(app.db, readEnv({}), receiver.url, { error() {}, warn() {} })
    const post = await channel.claim(false)
    const attempt = async (attempts: number) =>
      post && (await channel.attempt({ ...post, attempts }, AbortSignal.timeout(10_000))).is
    expect([await attempt(11), await attempt(12)]).toEqual(['unclear', 'refused'])
    const wait = (tries: number) => backOffMs(tries, channel.retrySeconds, channel.retryMaxSeconds)
    const hours = Array.from({ length: 11 }, (_, index) => wait(index + 1)).reduce((a, b) => a + b) / 3_600_000
    expect(hours).toBeGreaterThan(12.5) // 17 hours, with jitter of a quarter
    expect(hours).toBeLessThan(21.5)
  })

  it('an old post that was never sent is withheld when NOTIFY_URL is set again, also without a key', async () => {
    await order()
    await app.db.mail.updateMany({ data: { dueAt: hoursAgo(192), queuedAt: hoursAgo(192) } })
    startSenders()
    await untilPostsAre('Withheld')
    expect(receiver.posts).toEqual([])
    expect(await app.db.mail.count({ where: { kind: 'Notice', status: 'Pending' } })).toBe(1)
  })
})

it('a post is withheld once NOTIFY_URL is unset, ten minutes after it was queued', async () => {
  const app = await anApp({ mails: false })
  for (let order = 0; order < 2; order++) await submit(app.url, anOrder())
  const enquiries = await app.db.enquiry.findMany()
  const kind = 'Post' as const
  const queued = [hoursAgo(0.1), hoursAgo(0.2)]
  await app.db.mail.createMany({
    data: enquiries.map(({ id }, index) => ({ enquiryId: id, kind, queuedAt: queued[index] ?? new Date() })),
  })
  const senders = app.startSenders()
  const states = () => app.db.mail.findMany({ where: { kind }, orderBy: { queuedAt: 'desc' } })
  await eventually(async () =>
    expect(await states()).toMatchObject([{ status: 'Pending' }, { status: 'Withheld', withheldBecause: 'NoUrl' }]),
  )
  await senders.stop(1000)
  const [, withheld] = await states()
  expect(await retryMails(app.db, [withheld?.id ?? 0n])).toBe(1) // once it is set again
})

it('`staff check --post` posts an invented enquiry, signed, and shows the answer, but not the address', async () => {
  const taken = await staff(['check', '--post'], notify)
  expect(taken).toMatchObject({ code: 0, stderr: '' })
  expect(taken.stdout).toContain(`${brand.referencePrefix}-TEST22`)
  expect(verify(receiver.posts[0])).toMatchObject({ type: 'test' })
  status(404)
  const refused = await staff(['check', '--post'], notify)
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('HTTP 404: no such hook') })
  expect(refused.stderr + taken.stdout).not.toContain('s3cret-path')
  expect((await staff(['check', '--post'], {})).stderr).toBe('NOTIFY_URL is not set, so nothing can be posted.\n')
})
