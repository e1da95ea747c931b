// A mailbox gets at most three acknowledgements in 24 hours, however its address is written.
import { expect, it } from 'vitest'
import { brand } from '../../../shared/brand.ts'
import { anOrder, submit } from '../../support/an-order.ts'
import { eventually } from '../../support/eventually.ts'
import { theApp } from '../../support/fixtures.ts'
import { staff } from '../../support/staff-command.ts'
import { columnsOf, hoursAgo } from '../../support/stored-enquiry.ts'

const app = await theApp({ mails: false })

it.each([
  ['asha@shop.example', ['Asha+2@Shop.example', 'asha+@shop.example', 'ASHA@shop.example']],
  ['ashaverma@gmail.com', ['asha.verma@gmail.com', 'a.s.h.a.verma+x@googlemail.com', 'ASHAVERMA@GoogleMail.com']],
  ['asha.verma@shop.example', ['ASHA-verma@shop.example', 'asha_verma+1@shop.example', 'ashaverma@shop.example']],
])('%s is also reached as %j, and as no other', async (mailbox, others) => {
  const strangers = ['asha.b@shop.example', 'asha@gmail.com', 'asha@mail.shop.example', 'asha-2@shop.example']
  const same = await app.db.$queryRaw`
    SELECT "email" FROM unnest(${[...others, ...strangers]}::text[]) "email"
    WHERE "Quvera_mailbox"("email") = "Quvera_mailbox"(${mailbox})`
  expect(same).toEqual(others.map((email) => ({ email })))
})

it('three mails a day about erasures of an enquiry go to it besides, and staff read of further ones', async () => {
  await order(4)
  await sent()
  const [enquiry] = await app.db.enquiry.findMany()
  await app.db.enquiry.updateMany({ data: { eraseAt: hoursAgo(-20) } })
  const kind = 'ErasureAsked' as const
  await app.db.mail.createMany({
    data: Array(4).fill({ kind, enquiryId: enquiry?.id, mailbox: 'asha@shop.example' }),
  })
  await sent()
  expect(app.resend.mails.filter(({ subject }) => subject.includes('will be erased'))).toHaveLength(3)
  const { stdout } = await staff(['mails'], app.env)
  expect(stdout).toMatch(/^Not sent, and not tried again \(1\)\n.*\n.*ErasureAsked .*ThreeADay/m)
})

async function order(count: number, changes: Record<string, unknown> = {}) {
  for (let index = 0; index < count; index++)
    expect((await submit(app.url, anOrder({ email: `asha+${index}@shop.example`, ...changes }))).status).toBe(200)
}

/** How many acknowledgements went out, once all mails that wait are dealt with. */
async function sent() {
  const senders = app.startSenders()
  await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Pending' } })).toBe(0))
  await senders.stop(1000)
  return app.resend.mails.filter(({ subject }) => subject.includes('your enquiry')).length
}

it('three acknowledgements a day go to a mailbox, and a notice of each order to staff', async () => {
  await order(4, { website: 'x' }) // suspected spam in somebody's name does not count
  await order(5)
  await app.db.enquiry.updateMany({ data: { receivedAt: hoursAgo(23.9) } }) // whenever the orders came
  expect(await sent()).toBe(3)
  expect(app.resend.mails.filter(({ subject }) => subject.startsWith(`${brand.name} enquiry `))).toHaveLength(5)
  expect(await app.db.mail.count({ where: { withheldBecause: 'ThreeADay' } })).toBe(2)

  await app.db.mail.updateMany({ where: { kind: 'Acknowledgement' }, data: { firstTriedAt: hoursAgo(24.1) } })
  await order(2)
  expect(await sent()).toBe(5)
  // One that may have been sent counts.
  const justTried = { firstTriedAt: { gt: hoursAgo(1) } }
  await app.db.mail.updateMany({ where: justTried, data: columnsOf('Unknown') })
  await order(2)
  expect(await sent()).toBe(6)
})
