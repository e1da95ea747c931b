import pino from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { applyEvents } from '../../server/mail/delivery.ts'
import { digestText, readDigest } from '../../server/mail/digest.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough } from '../support/fake-resend.ts'
import { deliveryEvent, sendEvent, WEBHOOK_SECRET } from '../support/resend-events.ts'
import { staff } from '../support/staff-command.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let app: TestApp
beforeEach(async () => {
  app = await startTestApp({ webhookSecret: WEBHOOK_SECRET })
})
afterEach(() => app.close())

/** An order whose two mails were sent; returns what Resend calls them. */
async function aSentOrder() {
  const { reference } = await submit(app.url, anOrder())
  await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(2))
  const [notice, reply] = await app.db.mail.findMany({ orderBy: { kind: 'asc' } })
  return { reference, notice: notice?.resendId ?? '', reply: reply?.resendId ?? '' }
}

const statusOf = async (resendId: string) => (await app.db.mail.findFirst({ where: { resendId } }))?.status
const errors = () => app.logLines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50)

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items]
  return items.flatMap((item, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  )
}

describe('the final state is right in whatever order events come', () => {
  it.each([
    [['sent', 'delivered'], 'Delivered'],
    [['delivery_delayed', 'delivered'], 'Delivered'],
    [['sent', 'delivery_delayed', 'bounced'], 'Bounced'],
    [['delivered', 'bounced'], 'Bounced'],
    [['delivered', 'complained'], 'Complained'],
    [['delivery_delayed', 'delivered', 'complained'], 'Complained'],
    [['suppressed'], 'Bounced'],
    [['failed'], 'Failed'],
    [['delivery_delayed'], 'Sent'],
  ])('%j: %s', async (types, final) => {
    for (const order of permutations(types)) {
      const { notice } = await aSentOrder()
      for (const type of [...order, ...order])
        expect((await sendEvent(app.url, deliveryEvent(type, notice))).status).toBe(200)
      expect(await statusOf(notice)).toBe(final)
      expect(await app.db.mailEvent.count()).toBe(0)
      await app.db.enquiry.deleteMany()
    }
  })
})

it('an event is applied, and one too old forgotten, without reading all mails there ever were', async () => {
  const { db } = app
  await db.$executeRaw`
    INSERT INTO "Quvera_Mail" ("Kind", "Key", "Status", "ResendId", "SentAt")
    SELECT 'Digest', 'digest/' || number, 'Sent', 'mail-' || number, now() FROM generate_series(1, 100000) number`
  await db.$executeRaw`ANALYZE "Quvera_Mail"`
  const event = { type: 'email.delivered', receivedAt: new Date() }
  const old = { ...event, id: 'old', resendId: 'nobody’s', receivedAt: new Date(Date.now() - 49 * 3_600_000) }
  await db.mailEvent.createMany({ data: [{ ...event, id: 'new', resendId: 'mail-7' }, old] })
  const [{ read }] = await db.$transaction(async (transaction) => {
    await applyEvents(transaction as typeof db, pino({ level: 'silent' }))
    return transaction.$queryRaw<[{ read: number }]>`
      SELECT seq_tup_read::int AS "read" FROM pg_stat_xact_user_tables WHERE relname = 'Quvera_Mail'`
  })
  expect(read).toBe(0)
  expect(await statusOf('mail-7')).toBe('Delivered')
  expect(await db.mailEvent.count()).toBe(0)
})

it('an event that comes before our own record of the send is kept for it', async () => {
  app.resend.behaviour = { slowMs: 800 }
  await submit(app.url, anOrder())
  await eventually(() => expect(app.resend.mails.length).toBeGreaterThan(0))
  const [first] = app.resend.mails
  await sendEvent(app.url, deliveryEvent('delivered', 'early-bird'))
  await app.outbox.stop(5000)
  await app.db.mail.updateMany({
    where: { resendId: first?.id ?? '' },
    data: { status: 'Pending', resendId: null, attempts: 0 },
  })
  await sendEvent(app.url, deliveryEvent('bounced', first?.id ?? '', 'mailbox unknown'))
  expect(await app.db.mailEvent.count()).toBe(2)
  await app.db.mail.updateMany({ data: { nextAttemptAt: new Date() } })
  const again = app.startOutbox()
  await eventually(async () => expect(await statusOf(first?.id ?? '')).toBe('Bounced'))
  await again.stop(1000)
  expect(app.resend.mails).toHaveLength(2)
})

it('an event that no mail claims quotes no address, and is forgotten after two days also when no other comes', async () => {
  await app.outbox.stop(1000)
  await sendEvent(app.url, deliveryEvent('bounced', 'of-nobody', '550 <asha.verma@shop.example> unknown'))
  const [event] = await app.db.mailEvent.findMany()
  expect(event?.reason).toBe('550 <[address]> unknown')
  await app.db.mailEvent.updateMany({ data: { receivedAt: new Date(Date.now() - 49 * 3_600_000) } })
  const outbox = app.startOutbox()
  await eventually(async () => expect(await app.db.mailEvent.count()).toBe(0))
  await outbox.stop(1000)
})

it('a notice that bounces is an alarm; an acknowledgement that does is shown with its reason', async () => {
  const { notice, reply } = await aSentOrder()
  await sendEvent(app.url, deliveryEvent('bounced', reply, 'no such mailbox'))
  expect(errors()).toEqual([])
  expect(await app.db.mail.findFirst({ where: { resendId: reply } })).toMatchObject({
    status: 'Bounced',
    lastError: 'bounced: no such mailbox',
  })
  await sendEvent(app.url, deliveryEvent('bounced', notice, 'mailbox full'))
  expect(errors()).toMatchObject([{ kind: 'Staff', status: 'Bounced', msg: expect.stringContaining('not been told') }])
})

describe('the words of a stranger’s mail server', () => {
  const forged = 'full\r\n\nNobody has been told of these:\u2028https://evil.example \u001b[2J\u009b31m\u202eabc\u0000x'
  const FORGED = 'full Nobody has been told of these: https://evil.example [2J 31m abc x'

  it('reach rows, page, terminal and export on one line of printable characters', async () => {
    const { reference = '', notice, reply } = await aSentOrder()
    for (const id of [notice, reply])
      expect((await sendEvent(app.url, deliveryEvent('bounced', id, forged))).status).toBe(200)
    const rows = await app.db.mail.findMany()
    expect(rows.map(({ lastError }) => lastError)).toEqual([`bounced: ${FORGED}`, `bounced: ${FORGED}`])
    const shown = [
      digestText(await readDigest(app.db, new Date())),
      ...(await Promise.all(
        [['mails'], ['show', reference], ['export']].map(async (args) => (await staff(args, app.env)).stdout),
      )),
    ]
    for (const text of shown) {
      expect(text).toContain('Nobody has been told of these')
      expect(text).not.toMatch(/^\s*https:/m)
      for (const character of ['\u0000', '\u001b', '\u009b', '\u2028', '\u202e']) expect(text).not.toContain(character)
    }
  })

  it('are cut, and an event with nothing but such characters is no event', async () => {
    const { notice } = await aSentOrder()
    await sendEvent(app.url, deliveryEvent('bounced', notice, 'long '.repeat(2000)))
    expect((await app.db.mail.findFirst({ where: { resendId: notice } }))?.lastError?.length).toBeLessThan(520)
    for (const [type, id] of [
      ['bounced', '\u0000\u202e'],
      ['constructor', 'x'],
      ['\u0000', 'x'],
    ] as const)
      expect((await sendEvent(app.url, deliveryEvent(type, id))).status).toBe(200)
    expect(await app.db.mailEvent.count()).toBe(0)
  })

  it('are cleaned in what Resend answers too', async () => {
    app.resend.behaviour = { status: 422, name: 'validation_error', message: forged }
    await submit(app.url, anOrder())
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Failed' } })).toBe(2))
    for (const { lastError } of await app.db.mail.findMany()) expect(lastError).toBe(`422 validation_error: ${FORGED}`)
    const { env } = app
    const { stderr } = await staff(['test-mail', 'a@b.in'], { ...env, ...sendingThrough(app.resend) })
    expect(stderr).toContain(FORGED)
  })
})

describe('our good name', () => {
  const acknowledged = () => app.resend.mails.filter(({ key }) => key.startsWith('ack/'))
  const order = () => submit(app.url, anOrder({ email: `${crypto.randomUUID()}@shop.example` }))
  async function orders(number: number) {
    const before = acknowledged().length
    for (let index = 0; index < number; index++) await order()
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Pending' } })).toBe(0))
    return acknowledged().slice(before)
  }
  const holds = () => errors().filter(({ msg }) => /acknowledgements are held/.test(msg))
  const HELD = /Acknowledgements are held until \d/

  it('five unwelcome of the last twenty acknowledgements hold the next, until a person lets them go', async () => {
    const sent = await orders(24)
    const [old, bad, good] = [sent.slice(0, 4), sent.slice(4, 8), sent.slice(8)]
    const age = (mails: typeof sent, seconds: number) =>
      app.db.mail.updateMany({
        where: { resendId: { in: mails.map(({ id }) => id) } },
        data: { sentAt: new Date(Date.now() - seconds * 1000) },
      })
    await age(old, 120)
    await age(bad, 60)
    for (const { id } of good) await sendEvent(app.url, deliveryEvent('delivered', id))
    for (const { id } of old) await sendEvent(app.url, deliveryEvent('bounced', id, 'no'))
    for (const { id } of bad) await sendEvent(app.url, deliveryEvent('complained', id))
    expect(holds()).toEqual([])
    expect((await staff(['mails'], app.env)).stdout).not.toMatch(HELD)
    await sendEvent(app.url, deliveryEvent('complained', good[0]?.id ?? ''))
    expect(holds()).toHaveLength(1)
    expect((await staff(['mails'], app.env)).stdout).toMatch(HELD)

    // The sender learns of it within a second: held is what it leaves untaken while the notice of the same order goes.
    const waiting = (where: object) => app.db.mail.count({ where: { status: 'Pending', ...where } })
    await eventually(async () => {
      await order()
      await eventually(async () => expect(await waiting({ OR: [{ kind: 'Staff' }, { attempts: { gt: 0 } }] })).toBe(0))
      expect(await waiting({ kind: 'Acknowledgement' })).toBeGreaterThan(0)
    })
    const sentBefore = acknowledged().length
    await new Promise((done) => setTimeout(done, 500)) // several looks
    expect(acknowledged()).toHaveLength(sentBefore)

    expect((await staff(['mails', 'release'], app.env)).stdout).toBe('Acknowledgements go out again.\n')
    expect((await staff(['mails', 'release'], app.env)).stdout).toBe('Acknowledgements are not held.\n')
    await orders(1)
    await sendEvent(app.url, deliveryEvent('complained', good[1]?.id ?? '')) // of before
    expect(holds()).toHaveLength(1)
  })

  it('a day later they go by themselves, and five more hold them again', async () => {
    for (const { id } of await orders(5)) await sendEvent(app.url, deliveryEvent('bounced', id, 'no'))
    expect(holds()).toHaveLength(1)
    const past = await app.db.lease.updateMany({
      where: { name: 'acknowledgements held', until: { gt: new Date(Date.now() + 23 * 3_600_000) } },
      data: { until: new Date() },
    })
    expect(past.count).toBe(1)
    for (const { id } of await orders(5)) await sendEvent(app.url, deliveryEvent('bounced', id, 'no'))
    expect(holds()).toHaveLength(2)
  })
})

describe('what is not Resend’s', () => {
  it('an event of no mail of ours is answered and changes nothing', async () => {
    const { notice } = await aSentOrder()
    expect((await sendEvent(app.url, deliveryEvent('bounced', 'unknown'))).status).toBe(200)
    expect((await sendEvent(app.url, { type: 'domain.created', data: { id: 'x' } })).status).toBe(200)
    expect(await statusOf(notice)).toBe('Sent')
  })

  it('is turned away: forged, changed, too old, from the future, without signature, too large', async () => {
    const { notice } = await aSentOrder()
    const event = deliveryEvent('bounced', notice)
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
    const other = `whsec_${Buffer.from('another secret, 24 bytes').toString('base64')}`
    const statuses = [
      await sendEvent(app.url, event, { secret: other }),
      await sendEvent(app.url, event, { body: JSON.stringify(deliveryEvent('delivered', notice)) }),
      await sendEvent(app.url, event, { at: minutesAgo(6) }),
      await sendEvent(app.url, event, { at: minutesAgo(-6) }),
      await fetch(`${app.url}/webhooks/resend`, { method: 'POST', body: JSON.stringify(event) }),
      await sendEvent(app.url, { ...event, padding: 'x'.repeat(70_000) }),
    ].map(({ status }) => status)
    expect(statuses).toEqual([401, 401, 401, 401, 400, 413])
    expect(await statusOf(notice)).toBe('Sent')
    expect((await sendEvent(app.url, event, { at: minutesAgo(4) })).status).toBe(200)
    expect(await statusOf(notice)).toBe('Bounced')
  })

  it('finds no such address where no secret is set', async () => {
    const plain = await startTestApp({ mails: false })
    expect((await sendEvent(plain.url, deliveryEvent('delivered', 'x'))).status).toBe(404)
    await plain.close()
  })
})
