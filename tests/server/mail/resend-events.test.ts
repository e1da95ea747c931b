// Delivery events leave a mail in the same final state in any order, and a forged or foreign event changes nothing.
import { describe, expect, it } from 'vitest'
import { readEvent } from '../../../server/mail/delivery.ts'
import { anOrder, submit } from '../../support/an-order.ts'
import { eventually } from '../../support/eventually.ts'
import { STAFF } from '../../support/fake-resend.ts'
import { anApp, theApp } from '../../support/fixtures.ts'
import { deliveryEvent, sendEvent, WEBHOOK_SECRET } from '../../support/resend-events.ts'
import { storeEnquiry } from '../../support/stored-enquiry.ts'

const app = await theApp({ webhookSecret: WEBHOOK_SECRET })

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

it.each([
  [['sent', 'delivery_delayed', 'delivered'], 'Delivered'],
  [['sent', 'delivery_delayed', 'bounced'], 'Bounced'],
  [['delivered', 'bounced'], 'Bounced'],
  [['delivery_delayed', 'delivered', 'complained'], 'Complained'],
  [['suppressed'], 'Bounced'],
  [['failed'], 'Failed'],
  [['delivery_delayed'], 'Sent'],
  [['sent', 'bounced transiently'], 'Unknown'],
  [['sent', 'bounced transiently', 'delivered'], 'Delivered'],
  [['bounced transiently', 'bounced'], 'Bounced'],
])('%j, in any order and twice each, end as %s', async (types, final) => {
  await storeEnquiry(app.db, {}, { Notice: 'Sent' })
  const { id } = await app.db.mail.findFirstOrThrow({ where: { kind: 'Notice' } })
  for (const order of permutations(types)) {
    const tag = crypto.randomUUID()
    const sent = { status: 'Sent', tag, firstTriedAt: new Date(), dueAt: null, lastError: null } as const
    await app.db.mail.update({ where: { id }, data: sent })
    for (const type of [...order, ...order])
      expect((await sendEvent(app.url, deliveryEvent(type, tag))).status).toBe(200)
    expect(await statusOf(tag)).toBe(final)
  }
})

it('an event is read with its tags as an object and as a list', () => {
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

it('a notice that bounces is an alarm, an acknowledgement is none; of a mail server’s words its code is kept', async () => {
  const forged =
    '452 4.2.2 Asha Verma\r\n\nNobody has been told of these:\u2028https://evil.example \u001b[2J\u202eabc\u0000x'
  const { notice, reply } = await aSentOrder()
  await sendEvent(app.url, deliveryEvent('bounced', reply, forged))
  expect(app.loggedErrors()).toEqual([])
  await sendEvent(app.url, deliveryEvent('bounced', notice, forged))
  expect(app.loggedErrors()).toMatchObject([
    { kind: 'Notice', state: 'Bounced', msg: expect.stringContaining('did not arrive') },
  ])
  const bounced = { status: 'Bounced', lastError: 'bounced: Permanent General 452 4.2.2' }
  expect(await app.db.mail.findMany()).toMatchObject([bounced, bounced])
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
      { type: 'domain.created', data: { id: 'x' } },
    ]
    for (const event of others) expect((await sendEvent(app.url, event)).status).toBe(200)
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
    expect(app.countLogged("correct RESEND_WEBHOOK_SECRET or this machine's clock")).toBe(1) // an hour
    expect(await statusOf(notice)).toBe('Sent')
    expect((await sendEvent(app.url, event, { at: minutesAgo(4) })).status).toBe(200)
    expect(await statusOf(notice)).toBe('Bounced')
  })

  it('gets status 404 where no secret is set', async () => {
    const { url } = await anApp({ mails: false })
    expect((await sendEvent(url, deliveryEvent('delivered', 'x'))).status).toBe(404)
  })
})
