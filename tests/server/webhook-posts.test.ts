// A stored enquiry is posted to NOTIFY_URL, again under the same id after a failure, and delays no order or mail.
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import pino from 'pino'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOrders } from '../../server/enquiries/orders.ts'
import { type Env, readEnv } from '../../server/env.ts'
import { readBacklog } from '../../server/mail/backlog.ts'
import { startSenders } from '../../server/mail/senders.ts'
import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { startFakeReceiver } from '../support/fake-receiver.ts'
import { STAFF } from '../support/fake-resend.ts'
import { aDatabase, aServer } from '../support/fixtures.ts'
import { staff } from '../support/staff-command.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

let receiver: Awaited<ReturnType<typeof startFakeReceiver>>
let app: TestApp
let apps: TestApp[] = []
beforeEach(async () => {
  receiver = await startFakeReceiver()
})
afterEach(async () => {
  for (const each of apps) await each.close()
  apps = []
  await receiver.close()
})

async function start(options: Parameters<typeof startTestApp>[0] = {}, format: Env['NOTIFY_FORMAT'] = 'text') {
  const notify = { NOTIFY_URL: receiver.url, NOTIFY_FORMAT: format, NOTIFY_SECRET: SECRET }
  app = await startTestApp({ notify, ...options })
  apps.push(app)
}

const status = (code: number, headers = {}) => {
  receiver.answer = (response) => response.writeHead(code, headers).end('no such hook')
}
const posts = () => app.db.mail.findMany({ where: { kind: 'Post' }, orderBy: { id: 'asc' } })
const states = async () => (await posts()).map((row) => row.status)
const logged = (level: number) =>
  app.logLines.map((line) => JSON.parse(line)).filter((line) => line.level === level && /webhook post/.test(line.msg))
const dueNow = () => app.db.mail.updateMany({ where: { status: 'Pending' }, data: { dueAt: new Date() } })

describe('an enquiry is posted to NOTIFY_URL', () => {
  it('as a line for a chat, without personal data', async () => {
    await start()
    const { reference } = await submit(app.url, anOrder({ quantity: 7 }))
    await eventually(async () => expect(await states()).toEqual(['Sent']))
    expect(receiver.posts.map(({ body }) => JSON.parse(body))).toEqual([
      { text: `${brand.name} enquiry ${reference}: 7 × ${products[0]}, Retailer` },
    ])
    expect(receiver.posts[0]).toMatchObject({ path: '/services/T0/B0/s3cret-path' })
    expect(receiver.posts[0]?.headers['content-type']).toBe('application/json')
    await eventually(() => expect(app.resend.mails).toHaveLength(2))
  })

  it('as signed JSON that the official library verifies', async () => {
    await start({}, 'json')
    const order = anOrder({ name: 'Zoë <b>"Ω"</b>' })
    const { reference } = await submit(app.url, order)
    await eventually(async () => expect(await states()).toEqual(['Sent']))
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.posts
    const told = new Webhook(SECRET).verify(body, headers as Record<string, string>)
    const { submissionKey: _, ...fields } = order
    expect(told).toMatchObject({ type: 'enquiry.stored', data: { ...fields, reference, suspectedSpam: false } })
    const [row] = await app.db.enquiry.findMany()
    expect(told).toMatchObject({ timestamp: row?.receivedAt.toISOString(), data: { id: row?.id } })
    const other = new Webhook(`whsec_${Buffer.alloc(32, 8).toString('base64')}`)
    expect(() => other.verify(body, headers as Record<string, string>)).toThrow('No matching signature')
  })

  it('but not when it is suspected spam', async () => {
    await start({ mails: false })
    await submit(app.url, anOrder({ website: 'x' }))
    await submit(app.url, anOrder({ quantity: 7 }))
    await eventually(async () => expect(await states()).toEqual(['Sent']))
    expect(receiver.posts).toHaveLength(1)
  })

  it('but not one that a process without NOTIFY_URL stored', async () => {
    await start()
    const recipients = { staff: [STAFF], withPosts: false }
    const availability = { isUp: () => true, failed() {}, worked() {} }
    const replica = createOrders(app.db, { availability, log: { info() {} }, onStored() {}, recipients })
    await replica.submit(anOrder({ quantity: 9 }))
    const { reference } = await submit(app.url, anOrder())
    await eventually(async () => expect(await states()).toEqual(['Sent']))
    expect(receiver.posts.map(({ body }) => body)).toEqual([expect.stringContaining(String(reference))])
  })

  it('only when it was stored after NOTIFY_URL was set', async () => {
    await start({ notify: {} })
    await submit(app.url, anOrder())
    const later = app.startSenders({ NOTIFY_URL: receiver.url })
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(2))
    await later.stop(1000)
    expect(await states()).toEqual([])
    expect(receiver.posts).toEqual([])
  })
})

describe('while NOTIFY_URL fails', () => {
  it.each<[string, () => void, string]>([
    ['fails', () => status(500), 'HTTP 500'],
    ['redirects', () => status(302, { location: `${receiver.url}/elsewhere` }), 'HTTP 302'],
    ['resets', () => (receiver.answer = (response) => response.destroy()), 'UND_ERR_SOCKET'],
    ['hangs', () => (receiver.answer = () => undefined), 'TimeoutError'],
  ])(
    'the enquiry is stored and mailed at once, and posted later under the same id: NOTIFY_URL %s',
    async (_, fail, error) => {
      await start({}, 'json')
      fail()
      expect((await submit(app.url, anOrder())).status).toBe(200)
      await eventually(() => expect(app.resend.mails).toHaveLength(2), 5000)
      await eventually(async () => expect(await posts()).toMatchObject([{ status: 'Pending', lastError: error }]))
      expect(receiver.posts.map(({ path }) => path)).not.toContain('/services/T0/B0/s3cret-path/elsewhere')
      status(200)
      await dueNow()
      await eventually(async () => expect(await states()).toEqual(['Sent']))
      expect(new Set(receiver.posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      expect(new Set(receiver.posts.map(({ body }) => body)).size).toBe(1)
      const { headers, body } = receiver.posts.at(-1) ?? { headers: {}, body: '' }
      new Webhook(SECRET).verify(body, headers as Record<string, string>)
      expect(app.logLines.join()).not.toContain('s3cret-path')
      expect(logged(40)[0]).toMatchObject({ to: new URL(receiver.url).origin, reason: error })
    },
  )

  it('posts wait as long as the answer asks for, and then all are sent', async () => {
    await start()
    status(429, { 'retry-after': '1' })
    for (let index = 0; index < 3; index++) await submit(app.url, anOrder())
    await eventually(() => expect(receiver.posts).toHaveLength(1))
    status(200)
    expect(await states()).toEqual(['Pending', 'Pending', 'Pending'])
    await eventually(async () => expect(await states()).toEqual(['Sent', 'Sent', 'Sent']))
    expect(receiver.posts).toHaveLength(4)
  })

  it('an answer without an end is read only as far as it is shown', async () => {
    await start({ mails: false })
    const part = gzipSync(Buffer.alloc(16 << 20))
    receiver.answer = (response) => {
      response.writeHead(500, { 'content-encoding': 'gzip' })
      const write = () => void (response.destroyed || response.write(part, write))
      write()
    }
    await submit(app.url, anOrder())
    await eventually(async () => expect((await posts())[0]?.lastError).toBe('HTTP 500'), 5000)
  })

  it('posts that were tried are sent one after the other, and not one a poll, once it works again', async () => {
    await start({ mails: false })
    await app.senders.stop(1000)
    for (let index = 0; index < 5; index++) await submit(app.url, anOrder())
    await app.db.mail.updateMany({ where: { kind: 'Post' }, data: { attempts: 1, firstTriedAt: new Date() } })
    const env = { ...readEnv({}), NOTIFY_URL: receiver.url }
    const senders = startSenders(app.db, env, { log: pino({ level: 'silent' }), pollMs: 10_000 })
    await eventually(async () => expect(await states()).toEqual(Array(5).fill('Sent')), 5000)
    await senders.stop(1000)
  })

  it('a post that was not tried goes before those that were: a receiver that hangs does not hold up new enquiries', async () => {
    await start({ mails: false })
    await app.senders.stop(1000)
    for (let index = 0; index < 3; index++) await submit(app.url, anOrder())
    const tried = { attempts: 1, firstTriedAt: new Date(), dueAt: new Date(Date.now() - 60_000) }
    await app.db.mail.updateMany({ where: { kind: 'Post' }, data: tried })
    const { reference } = await submit(app.url, anOrder())
    const senders = app.startSenders({ apiKey: '' })
    await eventually(() => expect(receiver.posts.length).toBeGreaterThan(0))
    await senders.stop(1000)
    expect(receiver.posts[0]?.body).toContain(reference)
  })

  it('410 fails the post, with an error in the log; staff may retry it', async () => {
    await start()
    status(410)
    const { reference = '' } = await submit(app.url, anOrder())
    await eventually(async () => expect(await states()).toEqual(['Failed']))
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(2))
    expect(logged(50)).toMatchObject([{ reason: 'HTTP 410', msg: expect.stringContaining('not tried again') }])
    const { stdout } = await staff(['mails'], app.env)
    expect(stdout).toMatch(/^Not sent, and not tried again \(1\)\n.*\n.*Post .*HTTP 410/)
    status(200)
    await staff(['mails', 'retry', reference, '--yes'], app.env)
    await eventually(async () => expect(await states()).toEqual(['Sent']))
    expect(receiver.posts[1]?.headers['webhook-id']).not.toBe(receiver.posts[0]?.headers['webhook-id'])
  })

  it('a post fails for good after twelve tries, the last one some 17 hours after the first', async () => {
    await start({ mails: false, retrySeconds: 5 })
    status(500)
    await submit(app.url, anOrder())
    const waits: number[] = []
    for (let tries = 1; tries <= 12; tries++) {
      await eventually(() => expect(receiver.posts).toHaveLength(tries))
      await eventually(async () => expect((await posts())[0]?.lastError).toBe('HTTP 500'))
      const [post] = await posts()
      if (post?.dueAt) waits.push(Number(post.dueAt) - Date.now())
      await app.db.mail.updateMany({
        where: { kind: 'Post', status: 'Pending' },
        data: { dueAt: new Date(), lastError: null },
      })
    }
    await eventually(async () => expect(await states()).toEqual(['Failed']))
    expect(logged(50)).toMatchObject([{ reason: 'HTTP 500', msg: expect.stringContaining('not tried again') }])
    const hours = waits.reduce((sum, ms) => sum + ms, 0) / 3_600_000
    expect(hours).toBeGreaterThan(12.5) // 17 hours, with jitter of a quarter
    expect(hours).toBeLessThan(21.5)
  })

  /** Of eight days ago; then nothing is posted any more. */
  async function leaveOneUntold() {
    await start({ mails: false })
    status(500)
    await submit(app.url, anOrder())
    await eventually(async () => expect((await posts())[0]?.lastError).toBe('HTTP 500'))
    await app.senders.stop(1000)
    const old = new Date(Date.now() - 8 * 86_400_000)
    await app.db.mail.updateMany({ data: { dueAt: old, queuedAt: old, firstTriedAt: null } })
  }

  it('an old post that was never sent is withheld when NOTIFY_URL is set again, also without a key', async () => {
    await leaveOneUntold()
    status(200)
    const told = receiver.posts.length
    const next = app.startSenders({ apiKey: '' })
    await eventually(async () => expect(await states()).toEqual(['Withheld']))
    await next.stop(1000)
    expect(receiver.posts).toHaveLength(told)
    expect(await app.db.mail.count({ where: { kind: 'Notice', status: 'Pending' } })).toBe(1)
  })

  it('an old post is not sent while the database cannot withhold it', async () => {
    await leaveOneUntold()
    await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" ADD CONSTRAINT "busy" CHECK ("Status" <> 'Withheld')`
    const told = receiver.posts.length
    const next = app.startSenders({ apiKey: '' })
    await sleep(500)
    await next.stop(1000)
    expect(receiver.posts).toHaveLength(told)
  })

  it('one process posts for all, so that a pause which a chat asks for holds for all', async () => {
    await start({ mails: false })
    status(429, { 'retry-after': '2' })
    await submit(app.url, anOrder())
    await eventually(() => expect(receiver.posts).toHaveLength(1))
    const others = [app.startSenders({ apiKey: '' }), app.startSenders({ apiKey: '' })]
    for (let index = 0; index < 3; index++) await submit(app.url, anOrder())
    for (const other of others) other.wake()
    await sleep(1200)
    expect(receiver.posts).toHaveLength(1)
    for (const other of others) await other.stop(1000)
  })

  it('a post whose process ends during a try is sent by the next process', async () => {
    await start()
    receiver.answer = () => undefined
    await submit(app.url, anOrder())
    await eventually(() => expect(receiver.posts).toHaveLength(1))
    await app.senders.stop(0)
    status(200)
    await dueNow()
    const next = app.startSenders()
    await eventually(async () => expect(await states()).toEqual(['Sent']))
    await next.stop(1000)
  })
})

describe('a post is no mail', () => {
  it('it is sent while Resend hangs, and without a key', async () => {
    await start()
    app.resend.behaviour = 'hang'
    await submit(app.url, anOrder())
    await eventually(async () => expect(await states()).toEqual(['Sent']), 5000)
    await start({ mails: false })
    await submit(app.url, anOrder())
    await eventually(async () => expect(await states()).toEqual(['Sent']), 5000)
  })

  it('a process that only posts does not stop mails of a process with a key', async () => {
    await start({ mails: false })
    await submit(app.url, anOrder())
    await eventually(async () => expect(await states()).toEqual(['Sent']))
    const keyed = app.startSenders()
    await eventually(() => expect(app.resend.mails).toHaveLength(2), 5000)
    await keyed.stop(1000)
  })

  it('it uses none of the budget and is in no count of mails', async () => {
    await start({ dailyBudget: 10 })
    for (let index = 0; index < 3; index++) await submit(app.url, anOrder({ email: `a${index}@shop.example` }))
    await eventually(async () => expect(await states()).toEqual(['Sent', 'Sent', 'Sent']))
    await eventually(() => expect(app.resend.mails).toHaveLength(6))
    await app.db.mail.updateMany({ where: { kind: 'Post' }, data: { status: 'Failed', lastError: 'HTTP 410' } })
    expect(await readBacklog(app.db)).toMatchObject({ failed: 0, failedPosts: 3 })
  })
})

it('with NOTIFY_FORMAT=json the start says once to whom personal data goes, and so does `staff check`', async () => {
  const env = await aDatabase()
  const started = async (format: string) => {
    const notify = { NOTIFY_URL: receiver.url, NOTIFY_SECRET: SECRET, NOTIFY_FORMAT: format }
    const server = await aServer({ ...env, ...notify })
    await server.stop()
    return server.stdout() + (await staff(['check'], { ...env, ...notify })).stdout
  }
  const sentence = `NOTIFY_FORMAT is json: name, address and number of each visitor go to ${new URL(receiver.url).origin}`
  expect((await started('json')).split(sentence)).toHaveLength(3)
  expect(await started('text')).not.toContain('NOTIFY_FORMAT is json')
})

describe('staff check --post', () => {
  const run = (env: Record<string, string>) => staff(['check', '--post'], env)

  it('posts an invented enquiry, signed, and shows the answer, but not the address', async () => {
    const env = { NOTIFY_URL: receiver.url, NOTIFY_SECRET: SECRET, NOTIFY_FORMAT: 'json' }
    const taken = await run(env)
    expect(taken).toMatchObject({ code: 0, stderr: '' })
    expect(taken.stdout).toContain(`${brand.referencePrefix}-TEST22`)
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.posts
    expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toMatchObject({ type: 'test' })
    status(404)
    const refused = await run(env)
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('HTTP 404: no such hook') })
    expect(refused.stderr + taken.stdout).not.toContain('s3cret-path')
    expect((await run({})).stderr).toBe('NOTIFY_URL is not set, so nothing can be posted.\n')
  })
})

it.each([
  [{ NOTIFY_URL: 'http://hooks.example/s3cret' }, 'NOTIFY_URL must begin with https://'],
  [{ NOTIFY_URL: 'https://me:s3cret@hooks.example' }, 'NOTIFY_URL must begin with https://'],
  [{ NOTIFY_URL: 'hooks.example/s3cret' }, 'NOTIFY_URL must begin with https://'],
  [{ NOTIFY_FORMAT: 'xml' }, 'NOTIFY_FORMAT must be text or json'],
  [{ NOTIFY_SECRET: 'whsec_s3cret' }, 'NOTIFY_SECRET must be whsec_ and 24 to 64 bytes'],
  [{ NOTIFY_URL: 'https://hooks.example', NOTIFY_FORMAT: 'json' }, 'set NOTIFY_SECRET too'],
])('a wrong value is refused in a sentence that does not quote it: %j', (variables, sentence) => {
  expect(() => readEnv(variables as unknown as Record<string, string>)).toThrow(sentence)
  expect(() => readEnv(variables as unknown as Record<string, string>)).not.toThrow('s3cret')
})
