// Delivery events leave a mail in the same final state in any order, and a forged or foreign event changes nothing.
import { describe, expect, it } from 'vitest'
import { readEvent } from '../../server/mail/delivery.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { anApp, theApp } from '../support/fixtures.ts'
import { deliveryEvent, sendEvent, WEBHOOK_SECRET } from '../support/resend-events.ts'
import { staff } from '../support/staff-command.ts'
import { storeEnquiry } from '../support/stored-enquiry.ts'

const app = await theApp({ webhookSecret: WEBHOOK_SECRET, summaryWaitMs: 600_000 })

/** An order whose two mails were sent; returns their tags. */
async function aSentOrder() {
  const { reference } = await submit(app.url, anOrder())
  await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(2))
  const [notice, reply] = await app.db.mail.findMany({ orderBy: { kind: 'asc' } })
  return { reference, notice: notice?.tag ?? '', reply: reply?.tag ?? '' }
}

const statusOf = async (tag: string) => (await app.db.mail.findFirst({ where: { tag } }))?.status

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items]
  return items.flatMap((item, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  )
}

describe('the final state does not depend on the order of the events', () => {
  it.each([
    [['sent', 'delivery_delayed', 'delivered'], 'Delivered'],
    [['sent', 'delivery_delayed', 'bounced'], 'Bounced'],
    [['delivered', 'bounced'], 'Bounced'],
    [['delivery_delayed', 'delivered', 'complained'], 'Complained'],
    [['suppressed'], 'Bounced'],
    [['failed'], 'Failed'],
    [['delivery_delayed'], 'Sent'],
  ])('%j: %s', async (types, final) => {
    for (const order of permutations(types)) {
      const tag = crypto.randomUUID()
      await storeEnquiry(app.db, {}, { Notice: 'Sent' })
      await app.db.mail.updateMany({ where: { kind: 'Notice' }, data: { tag, firstTriedAt: new Date() } })
      for (const type of [...order, ...order])
        expect((await sendEvent(app.url, deliveryEvent(type, tag))).status).toBe(200)
      expect(await statusOf(tag)).toBe(final)
      await app.db.enquiry.deleteMany()
    }
  })
})

it('is read with its tags as an object and as a list', () => {
  const tag = crypto.randomUUID()
  const event = deliveryEvent('delivered', tag)
  const tags = [
    { name: 'other', value: 'x' },
    { name: 'mail', value: tag },
  ]
  for (const each of [event, { ...event, data: { ...event.data, tags } }])
    expect(readEvent(each)).toMatchObject({ tag, state: 'Delivered' })
})

describe('an event that comes before the result of the send is recorded', () => {
  it('and the result does not undo it', async () => {
    const earlier: Promise<Response>[] = []
    app.resend.onMail = ({ tag, to }) => {
      if (to[0] === STAFF) earlier.push(sendEvent(app.url, deliveryEvent('bounced', tag, '550')))
    }
    app.resend.behaviour = { answersAfterMs: 600 }
    await submit(app.url, anOrder())
    await eventually(() => expect(earlier).toHaveLength(1))
    expect((await earlier[0])?.status).toBe(200)
    const notice = () => app.db.mail.findFirstOrThrow({ where: { kind: 'Notice' } })
    expect(await notice()).toMatchObject({ status: 'Bounced', resendId: expect.any(String) })
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(1)) // the other
    expect(await notice()).toMatchObject({ status: 'Bounced' })
  })

  it('or instead of it: a mail whose result was lost is not sent again', async () => {
    const { notice } = await aSentOrder()
    await app.db.mail.updateMany({
      where: { tag: notice },
      data: { status: 'Pending', sentAt: null, dueAt: new Date(Date.now() + 600) },
    })
    await sendEvent(app.url, deliveryEvent('sent', notice))
    expect(await app.db.mail.findFirst({ where: { tag: notice } })).toMatchObject({ status: 'Sent', dueAt: null })
    await app.db.mail.updateMany({ where: { tag: notice }, data: { status: 'Unknown' } })
    await sendEvent(app.url, deliveryEvent('delivered', notice))
    expect(await statusOf(notice)).toBe('Delivered')
  })
})

it('a notice that bounces is an alarm; an acknowledgement that does is shown with its reason', async () => {
  const { notice, reply } = await aSentOrder()
  await sendEvent(app.url, deliveryEvent('bounced', reply, '550 no such mailbox'))
  expect(app.loggedErrors()).toEqual([])
  expect(await app.db.mail.findFirst({ where: { tag: reply } })).toMatchObject({
    status: 'Bounced',
    lastError: 'bounced: Permanent General 550',
  })
  await sendEvent(app.url, deliveryEvent('bounced', notice, 'mailbox full'))
  expect(app.loggedErrors()).toMatchObject([
    { kind: 'Notice', state: 'Bounced', msg: expect.stringContaining('did not arrive') },
  ])
})

it('the words of a stranger’s mail server are not kept: rows, terminal and export have its code only', async () => {
  const forged =
    '452 4.2.2 Asha Verma\r\n\nNobody has been told of these:\u2028https://evil.example \u001b[2J\u202eabc\u0000x'
  const { notice, reply } = await aSentOrder()
  for (const id of [notice, reply])
    expect((await sendEvent(app.url, deliveryEvent('bounced', id, forged))).status).toBe(200)
  const rows = await app.db.mail.findMany()
  const REASON = 'bounced: Permanent General 452 4.2.2'
  expect(rows.map(({ lastError }) => lastError)).toEqual([REASON, REASON])
  const outputs = [['mails'], ['export']].map(async (args) => (await staff(args, app.env)).stdout)
  for (const text of await Promise.all(outputs)) expect(text).not.toMatch(/evil|Nobody has been told/)
})

describe('what is not Resend’s', () => {
  it('an event of no mail of ours is answered and changes nothing', async () => {
    const { notice } = await aSentOrder()
    const others = [
      deliveryEvent('bounced', crypto.randomUUID()),
      deliveryEvent('bounced', '7'),
      deliveryEvent('constructor', notice),
      { ...deliveryEvent('bounced', notice), data: { email_id: 'x', to: ['a@b.in'] } },
      { ...deliveryEvent('bounced', notice), data: { tags: [{ name: 'order', value: notice }, null] } },
      { type: 'email.bounced' },
    ]
    for (const event of others) expect((await sendEvent(app.url, event)).status).toBe(200)
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
    const warnings = app.logLines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40)
    expect(warnings).toMatchObject([
      { msg: expect.stringContaining('correct RESEND_WEBHOOK_SECRET') },
      { msg: expect.stringContaining("is refused because its time is 6 minutes before this machine's clock") },
    ]) // one of each an hour
    expect(await statusOf(notice)).toBe('Sent')
    expect((await sendEvent(app.url, event, { at: minutesAgo(4) })).status).toBe(200)
    expect(await statusOf(notice)).toBe('Bounced')
  })

  it('gets status 404 where no secret is set', async () => {
    const { url } = await anApp({ mails: false })
    expect((await sendEvent(url, deliveryEvent('delivered', 'x'))).status).toBe(404)
  })
})
