import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { deliveryEvent, sendEvent, WEBHOOK_SECRET } from '../support/resend-events.ts'
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

it('an event that comes before our own record of the send is kept for it', async () => {
  app.resend.behaviour = { slowMs: 800 }
  await submit(app.url, anOrder())
  await eventually(() => expect(app.resend.mails.length).toBeGreaterThan(0))
  const [first] = app.resend.mails
  await sendEvent(app.url, deliveryEvent('delivered', 'early-bird'))
  await app.outbox?.stop(5000)
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
