import { describe, expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { startTestApp } from '../support/test-app.ts'

async function anApp() {
  const app = await startTestApp()
  atEnd(app.close)
  return app
}

/** How many acknowledgements go out when each of the addresses sends an order, in turn. */
async function acknowledged(orders: Record<string, unknown>[]) {
  const app = await anApp()
  for (const order of orders) expect((await submit(app.url, anOrder(order))).status).toBe(200)
  const pending = { status: 'Pending', kind: 'Acknowledgement' } as const
  await eventually(async () => expect(await app.db.mail.count({ where: pending })).toBe(0))
  return app.resend.mails.filter((mail) => mail.key.startsWith('ack/')).map((mail) => mail.to[0])
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
  ])('%s', async (_how, emails) => {
    expect(await acknowledged(emails.map((email) => ({ email })))).toHaveLength(3)
  })

  it('and another mailbox has three of its own', async () => {
    const emails = ['asha.verma@shop.example', 'ashaverma@shop.example', 'asha@gmail.com', 'asha@shop.example']
    expect(await acknowledged(emails.map((email) => ({ email })))).toHaveLength(4)
  })

  it('and suspected spam in somebody’s name does not count', async () => {
    const email = 'asha@shop.example'
    const spam = Array.from({ length: 4 }, () => ({ email, website: 'x' }))
    expect(await acknowledged([...spam, { email }])).toEqual([email])
  })
})
