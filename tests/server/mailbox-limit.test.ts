// A mailbox gets at most three acknowledgements in 24 hours, however its address is written.
import { describe, expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { anApp } from '../support/fixtures.ts'
import { hoursAgo } from '../support/stored-enquiry.ts'
import type { TestApp } from '../support/test-app.ts'

async function orders(app: TestApp, number: number, receivedAt?: Date) {
  for (let index = 0; index < number; index++) {
    const { reference = '' } = await submit(app.url, anOrder())
    if (!receivedAt) continue
    await app.db.enquiry.update({ where: { reference }, data: { receivedAt } })
    await app.db.mail.updateMany({
      where: { enquiry: { reference } },
      data: { queuedAt: receivedAt, dueAt: receivedAt },
    })
  }
}

const acknowledgements = (app: TestApp) => app.resend.mails.filter(({ subject }) => subject.includes('your enquiry'))
const noneWaits = (app: TestApp) =>
  eventually(async () => expect(await app.db.mail.count({ where: { status: 'Pending' } })).toBe(0))

/** A site that has got these orders, one after the other, and sent what it sends. */
async function anAppAfter(orders: Record<string, unknown>[]) {
  const app = await anApp()
  for (const order of orders) expect((await submit(app.url, anOrder(order))).status).toBe(200)
  await noneWaits(app)
  return app
}

describe('a mailbox gets three acknowledgements a day', () => {
  it.each([
    [
      'with tags and in capitals',
      ['asha@shop.example', 'asha+1@shop.example', 'Asha+2@Shop.example', 'asha+@shop.example', 'ASHA@shop.example'],
    ],
    [
      'at Gmail with dots, under either name',
      ['asha.verma@gmail.com', 'ashaverma@gmail.com', 'a.s.h.a.verma+x@googlemail.com', 'ASHAVERMA@GoogleMail.com'],
    ],
  ])('%s, and staff a notice of each order', async (_how, emails) => {
    const app = await anAppAfter(emails.map((email) => ({ email })))
    expect(acknowledgements(app)).toHaveLength(3)
    expect(app.resend.mails.filter(({ to }) => to[0] === STAFF)).toHaveLength(emails.length)
    const isWithheld = { withheldBecause: 'ThreeADay' } as const
    expect(await app.db.mail.count({ where: isWithheld })).toBe(emails.length - 3)
  })

  it('and another mailbox has three of its own', async () => {
    const emails = ['asha.verma@shop.example', 'ashaverma@shop.example', 'asha@gmail.com', 'asha@shop.example']
    expect(acknowledgements(await anAppAfter(emails.map((email) => ({ email }))))).toHaveLength(4)
  })

  it('and suspected spam in somebody’s name does not count', async () => {
    const email = 'asha@shop.example'
    const spam = Array.from({ length: 4 }, () => ({ email, website: 'x' }))
    expect(acknowledgements(await anAppAfter([...spam, { email }])).map(({ to }) => to)).toEqual([[email]])
  })

  it('also when they wait: counted are the mails of the last 24 hours, whenever their orders came', async () => {
    const app = await anApp({ mails: false })
    await orders(app, 4, hoursAgo(23.9))
    const first = app.startSenders()
    await noneWaits(app)
    await first.stop(1000)
    expect(acknowledgements(app)).toHaveLength(3)
    await app.db.enquiry.updateMany({ data: { receivedAt: hoursAgo(25) } })
    await orders(app, 3)
    const second = app.startSenders()
    await noneWaits(app)
    await second.stop(1000)
    expect(acknowledgements(app)).toHaveLength(3)
  })

  it('and mails that may have been sent count', async () => {
    const app = await anApp({ mails: false })
    await orders(app, 1)
    const senders = app.startSenders()
    await noneWaits(app)
    await app.db.mail.updateMany({ where: { kind: 'Acknowledgement' }, data: { status: 'Unknown', sentAt: null } })
    await orders(app, 3)
    senders.wake()
    await noneWaits(app)
    await senders.stop(1000)
    expect(acknowledgements(app)).toHaveLength(3)
  })

  it('and three more a day after those were sent', async () => {
    const app = await anApp({ mails: false })
    await orders(app, 3)
    const senders = app.startSenders()
    await noneWaits(app)
    await app.db.mail.updateMany({ data: { firstTriedAt: hoursAgo(24.1) } })
    await orders(app, 4)
    senders.wake()
    await noneWaits(app)
    await senders.stop(1000)
    expect(acknowledgements(app)).toHaveLength(6)
  })
})
