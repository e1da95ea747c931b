// Mails keep to the budget of 24 hours, which counts receivers, and staff learn of every enquiry within it.

import { expect, it } from 'vitest'
import type { MailKind } from '../../../server/database/generated/enums.ts'
import { hasBudget, readCount, summaryIntervalMs } from '../../../server/mail/kinds.ts'
import { countUntold } from '../../../server/operations/problems.ts'
import { insertEnquiries, toInsertRow } from '../../../server/orders/storing.ts'
import { anOrder } from '../../support/an-order.ts'
import { eventually } from '../../support/eventually.ts'
import { anApp, anOpenDatabase } from '../../support/fixtures.ts'
import { hoursAgo, storeEnquiry } from '../../support/stored-enquiry.ts'

const all: MailKind[] = ['Summary', 'SignIn', 'Notice', 'ErasureAsked', 'Confirmation', 'Acknowledgement', 'Post']

it.each<[used: number, closed: MailKind[]]>([
  [59, []],
  [60, ['Confirmation', 'Acknowledgement']],
  [75, ['Notice', 'Confirmation', 'Acknowledgement']],
  [99, ['Notice', 'Confirmation', 'Acknowledgement']],
  [100, ['Summary', 'SignIn', 'Notice', 'ErasureAsked', 'Confirmation', 'Acknowledgement']],
])('with a budget of 100, after %i mails these wait: %j', (used, closed) => {
  expect(all.filter((kind) => !hasBudget(kind, 100, used))).toEqual(closed)
  expect(all.filter((kind) => !hasBudget(kind, 0, 1_000_000))).toEqual([]) // 0: no limit
})

it.each([
  [100, 1, 57.6],
  [100, 2, 115.2],
  [0, 3, 10],
  [100_000, 1, 10],
  [4, 1, 24 * 60],
])('with a budget of %i and %i of staff summaries are at least %d minutes apart', (budget, receivers, minutes) => {
  expect(summaryIntervalMs(budget, receivers) / 60_000).toBeCloseTo(minutes)
})

it('the count is of mails tried within 24 hours, each for one receiver, and neither of posts nor of the future', async () => {
  const { db } = await anOpenDatabase()
  const tried = (hours: number) => ({ status: 'Failed', dueAt: null, firstTriedAt: hoursAgo(hours) }) as const
  await storeEnquiry(db)
  const { id: enquiryId } = await db.enquiry.findFirstOrThrow()
  await db.mail.createMany({
    data: [
      ...[0.1, 23.9, 24.1, -1].map((hours) => ({ kind: 'SignIn' as const, to: 'a@b.in', ...tried(hours) })),
      ...['a@b.in', 'c@d.in'].map((to) => ({ kind: 'Summary' as const, text: 'x', to, ...tried(1) })),
      { kind: 'SignIn', to: 'a@b.in', status: 'Withheld', withheldBecause: 'TooOld', dueAt: null },
      { kind: 'Post', enquiryId, ...tried(1) },
    ],
  })
  expect(await readCount(db)).toBe(4)
})

it('notices beyond their share are withheld, and a summary names their enquiries: all of staff, within the budget', async () => {
  const staff = ['a@quvera.test', 'b@quvera.test', 'c@quvera.test']
  const app = await anApp({ mails: false })
  const orders = Array.from({ length: 20 }, () => toInsertRow(anOrder()))
  await insertEnquiries(app.db, orders, { STAFF_EMAILS: staff })
  await app.db.enquiry.updateMany({ data: { receivedAt: hoursAgo(0.1) } })
  const withheld = () => app.db.mail.count({ where: { kind: 'Notice', status: 'Withheld' } })
  const settings = { MAIL_DAILY_BUDGET: 30, STAFF_EMAILS: staff }
  const senders = app.startSenders(settings)
  await eventually(async () => expect(await withheld()).toBe(37))
  await senders.stop(1000)
  const later = app.startSenders(settings) // which looks at once whether a summary is due
  await eventually(() => expect(app.resend.mails).toHaveLength(26)) // 23 notices, and a summary for each
  await later.stop(1000)
  const summaries = app.resend.mails.slice(-3)
  expect(summaries.map(({ to }) => to[0])).toEqual(staff)
  const told = await app.db.mail.findMany({ where: { kind: 'Notice', status: 'Sent' }, distinct: ['enquiryId'] })
  expect(summaries[0]?.subject).toContain(` ${orders.length - told.length} not mailed one by one`)
  expect(await withheld()).toBe(37)
  expect(await countUntold(app.db)).toBe(0)
})
