import pino from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { applyEvents } from '../../server/mail/delivery.ts'
import { readSummary, writeSummary } from '../../server/mail/summary.ts'
import { exampleOrder } from '../../shared/order.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF, sendingThrough } from '../support/fake-resend.ts'
import { deliveryEvent, sendEvent, WEBHOOK_SECRET } from '../support/resend-events.ts'
import { staff } from '../support/staff-command.ts'
import { storeEnquiry } from '../support/stored-enquiry.ts'
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

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items]
  return items.flatMap((item, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  )
}

describe('the final state does not depend on the order of the events', () => {
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
      const notice = crypto.randomUUID()
      await storeEnquiry(app.db, {}, { Notice: 'Sent' })
      await app.db.mail.updateMany({ where: { kind: 'Notice' }, data: { resendId: notice, triedAt: new Date() } })
      for (const type of [...order, ...order])
        expect((await sendEvent(app.url, deliveryEvent(type, notice))).status).toBe(200)
      expect(await statusOf(notice)).toBe(final)
      expect(await app.db.mailEvent.count()).toBe(0)
      await app.db.enquiry.deleteMany()
    }
  })
})

describe('five thousand events of other mails in the same account', () => {
  it('cost an event of ours, and a send, one look-up by an index', async () => {
    const { db } = app
    await db.$executeRaw`
      INSERT INTO "Quvera_Mail" ("Kind", "Key", "Status", "ResendId", "TriedAt")
      SELECT 'Summary', 'summary/' || number, 'Sent', 'mail-' || number, now() FROM generate_series(1, 5000) number`
    await db.$executeRaw`
      INSERT INTO "Quvera_MailEvent" ("Id", "ResendId", "Type")
      SELECT 'foreign-' || number, 'of-others-' || number, 'email.delivered' FROM generate_series(1, 5000) number`
    await db.$executeRaw`ANALYZE "Quvera_Mail", "Quvera_MailEvent"`
    await db.mailEvent.create({ data: { id: 'new', resendId: 'mail-7', type: 'email.delivered' } })
    await db.$transaction(async (transaction) => {
      const read = () => transaction.$queryRaw<[{ scanned: number; fetched: number }]>`
        SELECT sum(seq_tup_read)::int AS "scanned", sum(idx_tup_fetch)::int AS "fetched" FROM pg_stat_xact_user_tables
        WHERE relname IN ('Quvera_Mail', 'Quvera_MailEvent')`
      const [before] = await read() // statements of the sender, in the embedded database's only session
      await applyEvents(transaction as typeof db, pino({ level: 'silent' }), 'mail-7', [STAFF])
      await applyEvents(transaction as typeof db, pino({ level: 'silent' }), 'of-others-7', [STAFF])
      const [after] = await read()
      expect(after.scanned - before.scanned).toBe(0)
      expect(after.fetched - before.fetched).toBeLessThan(10)
    })
    expect(await statusOf('mail-7')).toBe('Delivered')
    expect(await db.mailEvent.count()).toBe(5000)
  })
})

it('an event that comes before our own record of the send is kept until then', async () => {
  app.resend.behaviour = { slowMs: 800 }
  await submit(app.url, anOrder())
  await eventually(() => expect(app.resend.mails.length).toBeGreaterThan(0))
  const [first] = app.resend.mails
  await sendEvent(app.url, deliveryEvent('delivered', 'early-bird'))
  await app.outbox.stop(5000)
  await app.db.mail.updateMany({
    where: { resendId: first?.id ?? '' },
    data: { status: 'Pending', resendId: null },
  })
  await sendEvent(app.url, deliveryEvent('bounced', first?.id ?? '', 'mailbox unknown'))
  expect(await app.db.mailEvent.count()).toBe(2)
  await app.db.mail.updateMany({ data: { dueAt: new Date() } })
  const again = app.startOutbox()
  await eventually(async () => expect(await statusOf(first?.id ?? '')).toBe('Bounced'))
  await again.stop(1000)
  expect(app.resend.mails).toHaveLength(2)
})

it('an event that a process did not apply before it died is applied by the next process', async () => {
  await app.outbox.stop(1000)
  const sent = { kind: 'Summary', key: 'x', status: 'Sent', resendId: 'early', triedAt: new Date() } as const
  await app.db.mail.create({ data: sent })
  await app.db.mailEvent.create({ data: { id: 'first', resendId: 'early', type: 'email.bounced' } })
  const outbox = app.startOutbox()
  await eventually(async () => expect(await statusOf('early')).toBe('Bounced'))
  await outbox.stop(1000)
})

it('old events of other mails are deleted a thousand at a time, so that no mail waits for it', async () => {
  await app.outbox.stop(1000)
  await app.db.$executeRaw`
    INSERT INTO "Quvera_MailEvent" ("Id", "ResendId", "Type", "ReceivedAt")
    SELECT 'old-' || n, 'of-others-' || n, 'email.delivered', now() - interval '3 days' FROM generate_series(1, 2500) n`
  await submit(app.url, anOrder())
  const outbox = app.startOutbox()
  await eventually(() => expect(app.resend.mails).toHaveLength(2))
  await outbox.stop(1000)
  expect(await app.db.mailEvent.count()).toBe(1500)
})

it('an event of another mail names nobody, and is deleted after two days', async () => {
  await app.outbox.stop(1000)
  await sendEvent(
    app.url,
    deliveryEvent('bounced', 'of-nobody', '550 5.1.1 <asha.verma@shop.example> Asha Verma has left'),
  )
  const [event] = await app.db.mailEvent.findMany()
  expect(event?.reason).toBe('Permanent General 550 5.1.1')
  await app.db.mailEvent.updateMany({ data: { receivedAt: new Date(Date.now() - 49 * 3_600_000) } })
  const outbox = app.startOutbox()
  await eventually(async () => expect(await app.db.mailEvent.count()).toBe(0))
  await outbox.stop(1000)
})

it('a notice that bounces is an alarm; an acknowledgement that does is shown with its reason', async () => {
  const { notice, reply } = await aSentOrder()
  await sendEvent(app.url, deliveryEvent('bounced', reply, '550 no such mailbox'))
  expect(app.loggedErrors()).toEqual([])
  expect(await app.db.mail.findFirst({ where: { resendId: reply } })).toMatchObject({
    status: 'Bounced',
    lastError: 'bounced: Permanent General 550',
  })
  await sendEvent(app.url, deliveryEvent('bounced', notice, 'mailbox full'))
  expect(app.loggedErrors()).toMatchObject([
    { kind: 'Notice', state: 'Bounced', msg: expect.stringContaining('did not arrive') },
  ])
})

it('a mail that was marked as spam has arrived: the log does not say otherwise', async () => {
  const { reply } = await aSentOrder()
  await sendEvent(app.url, deliveryEvent('complained', reply))
  expect(app.logLines.join('')).toContain('a mail was marked as spam')
  expect(app.logLines.join('')).not.toContain('did not arrive')
  expect(await readSummary(app.db, new Date())).toContain('did not arrive, or was marked as spam')
})

describe('the words of a stranger’s mail server', () => {
  const forged =
    '452 4.2.2 Asha Verma\r\n\nNobody has been told of these:\u2028https://evil.example \u001b[2J\u202eabc\u0000x'

  it('are not kept: rows, summary, terminal and export have its code only', async () => {
    const { reference = '', notice, reply } = await aSentOrder()
    for (const id of [notice, reply])
      expect((await sendEvent(app.url, deliveryEvent('bounced', id, forged))).status).toBe(200)
    const rows = await app.db.mail.findMany()
    const REASON = 'bounced: Permanent General 452 4.2.2'
    expect(rows.map(({ lastError }) => lastError)).toEqual([REASON, REASON])
    const outputs = [['mails'], ['show', reference], ['export']].map(
      async (args) => (await staff(args, app.env)).stdout,
    )
    const page = (await readSummary(app.db, new Date())) ?? ''
    expect(page).toContain('Bounced 452 4.2.2')
    for (const text of [page, ...(await Promise.all(outputs))])
      expect(text).not.toMatch(/evil|Nobody has been told of these:.https/)
  })

  it('do not keep a person’s name in a summary when the person is erased', async () => {
    const { notice } = await aSentOrder()
    await sendEvent(app.url, deliveryEvent('bounced', notice, '550 5.1.1 mailbox of Asha Verma is closed'))
    await writeSummary(app.db, new Date(), false)
    await staff(['erase', '--person', exampleOrder.email, '--yes'], app.env)
    const [summary] = await app.db.mail.findMany()
    expect(summary).toMatchObject({ kind: 'Summary', text: expect.stringContaining('Bounced 550 5.1.1') })
    expect(summary?.text).not.toContain('Asha')
  })

  it('store no event that consists of control characters', async () => {
    await aSentOrder()
    for (const [type, id] of [
      ['bounced', '\u0000\u202e'],
      ['constructor', 'x'],
      ['\u0000', 'x'],
    ] as const)
      expect((await sendEvent(app.url, deliveryEvent(type, id))).status).toBe(200)
    expect(await app.db.mailEvent.count()).toBe(0)
  })

  it('are cleaned in an answer of Resend’s, which becomes one line', async () => {
    app.resend.behaviour = { status: 422, name: 'validation_error', message: forged }
    await submit(app.url, anOrder())
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Failed' } })).toBe(2))
    const FORGED = '452 4.2.2 Asha Verma Nobody has been told of these: https://evil.example [2J abc x'
    for (const { lastError } of await app.db.mail.findMany()) expect(lastError).toBe(`422 validation_error: ${FORGED}`)
    const { env } = app
    const { stderr } = await staff(['test-mail', 'a@b.in'], { ...env, ...sendingThrough(app.resend) })
    expect(stderr).toContain(FORGED)
  })
})

describe('acknowledgements that bounce', () => {
  const acknowledged = () => app.resend.mails.filter(({ key }) => key.startsWith('ack/'))
  const order = () => submit(app.url, anOrder({ email: `${crypto.randomUUID()}@shop.example` }))
  async function orders(number: number) {
    const before = acknowledged().length
    for (let index = 0; index < number; index++) await order()
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Pending' } })).toBe(0))
    return acknowledged().slice(before)
  }
  const HELD = /Acknowledgements wait: 5 of the last 20 bounced/
  const mailsCommand = async () => (await staff(['mails'], { ...app.env, RESEND_API_KEY: 're_test' })).stdout
  const held = { kind: 'Acknowledgement', triedAt: null } as const
  /** Acknowledgements that are not sent. Mails that are on their way arrive before. */
  async function waiting() {
    const underWay = () => app.db.mail.count({ where: { status: 'Pending', NOT: held } })
    await eventually(async () => expect(await underWay()).toBe(0))
    return app.db.mail.count({ where: { status: 'Pending', ...held } })
  }

  it('stop the next ones when they are five of the last twenty of a day; notices go on', async () => {
    const sent = await orders(24)
    const [old, bad, good] = [sent.slice(0, 4), sent.slice(4, 8), sent.slice(8)]
    for (const { id } of old) await sendEvent(app.url, deliveryEvent('bounced', id, 'no'))
    for (const { id } of good) await sendEvent(app.url, deliveryEvent('delivered', id))
    for (const { id } of bad) await sendEvent(app.url, deliveryEvent('complained', id))
    await orders(1) // four of the last twenty
    await sendEvent(app.url, deliveryEvent('complained', good[0]?.id ?? ''))

    const before = acknowledged().length
    await eventually(async () => {
      await order()
      expect(await waiting()).toBeGreaterThan(0)
    })
    const sentBefore = acknowledged().length
    await new Promise((done) => setTimeout(done, 500)) // several polls
    expect(acknowledged()).toHaveLength(sentBefore)
    expect(before).toBeLessThanOrEqual(sentBefore)
    expect(await mailsCommand()).toMatch(HELD)
  })

  it('no longer stop them a day later', async () => {
    for (const { id } of await orders(5)) await sendEvent(app.url, deliveryEvent('bounced', id, 'no'))
    await eventually(async () => {
      await order()
      expect(await waiting()).toBeGreaterThan(0)
    })
    const yesterday = new Date(Date.now() - 25 * 3_600_000)
    await app.db.mail.updateMany({ where: { status: 'Bounced' }, data: { reportedAt: yesterday } })
    await eventually(async () => expect(await waiting()).toBe(0))
    expect(await mailsCommand()).not.toMatch(HELD)
  })
})

const several = ['dead@quvera.test', 'desk@quvera.test']
const about = (type: string, id: string, receiver = '') => ({
  ...deliveryEvent(type, id, '550 5.1.1 gone'),
  data: {
    ...(deliveryEvent(type, id, '550 5.1.1 gone') as { data: object }).data,
    ...(receiver && { to: [receiver] }),
  },
})

async function notices(number: number) {
  await app.close()
  app = await startTestApp({ webhookSecret: WEBHOOK_SECRET, staff: several })
  for (let index = 0; index < number; index++) await submit(app.url, anOrder({ email: `v${index}@shop.example` }))
  await eventually(() => expect(app.resend.mails).toHaveLength(2 * number))
  await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(2 * number))
  return (await app.db.mail.findMany({ where: { kind: 'Notice' } })).map(({ resendId }) => resendId ?? '')
}

describe('a mail to several of staff', () => {
  it('has arrived when it has reached one; each bounce is logged, without the address', async () => {
    const ids = await notices(4)
    for (const [index, id] of ids.entries()) {
      const events = [about('bounced', id, 'dead@quvera.test'), about('delivered', id, 'desk@quvera.test')]
      for (const event of index % 2 ? events : events.toReversed()) await sendEvent(app.url, event)
    }
    for (const id of ids) expect(await statusOf(id)).toBe('Delivered')
    expect((await staff(['mails'], app.env)).stdout).not.toContain('ALARM')
    expect(app.loggedErrors().map(({ kind, state }) => [kind, state])).toEqual(ids.map(() => ['Notice', 'Bounced']))
    expect(app.logLines.join()).not.toContain('dead@')
  })

  it('that reached none is an alarm, and so is the next one of the same day', async () => {
    const ids = await notices(2)
    for (const id of ids) for (const receiver of several) await sendEvent(app.url, about('bounced', id, receiver))
    for (const id of ids) expect(await statusOf(id)).toBe('Bounced')
    expect((await staff(['mails'], app.env)).stdout).toContain('ALARM: nobody has been told of these enquiries (2)')
    expect(app.loggedErrors()).toHaveLength(4)
  })

  it('that one of them marks as spam is no error', async () => {
    const [id = ''] = await notices(1)
    await sendEvent(app.url, about('complained', id, 'dead@quvera.test'))
    expect(await statusOf(id)).toBe('Complained')
    await sendEvent(app.url, about('delivered', id, 'desk@quvera.test'))
    expect(await statusOf(id)).toBe('Delivered')
    expect(app.loggedErrors()).toEqual([])
  })
})

describe('what is not Resend’s', () => {
  it('an event of no mail of ours is answered and changes nothing', async () => {
    const { notice } = await aSentOrder()
    expect((await sendEvent(app.url, deliveryEvent('bounced', 'unknown'))).status).toBe(200)
    expect((await sendEvent(app.url, { type: 'domain.created', data: { id: 'x' } })).status).toBe(200)
    expect(await statusOf(notice)).toBe('Sent')
  })

  it('is refused: forged, changed, too old, from the future, without signature, too large', async () => {
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

  it('gets status 404 where no secret is set', async () => {
    const plain = await startTestApp({ mails: false })
    expect((await sendEvent(plain.url, deliveryEvent('delivered', 'x'))).status).toBe(404)
    await plain.close()
  })
})
