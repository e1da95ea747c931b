// After a rollback the tables hold values of the newer version: they are read, mailed and exported as they are.
import { expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { callDesk, enterDesk } from '../support/desk.ts'
import { eventually } from '../support/eventually.ts'
import { anApp } from '../support/fixtures.ts'
import { staff } from '../support/staff-command.ts'

it('an enquiry about a product that this version does not know is mailed, summarised, shown, exported and recognised', async () => {
  const app = await anApp({ mails: false, staff: ['a@quvera.test', 'b@quvera.test'] })
  await app.db.$executeRaw`ALTER TYPE "Quvera_Product" ADD VALUE 'Quvera 500'`
  await app.db.$executeRaw`ALTER TYPE "Quvera_BuyerType" ADD VALUE 'Hospital'`
  await app.db.$executeRaw`ALTER TYPE "Quvera_MailKind" ADD VALUE 'Newsletter'`
  const order = anOrder()
  const { reference = '' } = await submit(app.url, order)
  await app.db.$executeRaw`UPDATE "Quvera_Form" SET "Products" = 'Quvera 500', "RetailerSelfUse" = 'Hospital'`
  await app.db.$executeRaw`INSERT INTO "Quvera_Mail" ("Kind", "EnquiryId") SELECT 'Newsletter', "Id" FROM "Quvera_Form"`
  await app.db.$executeRaw`UPDATE "Quvera_Mail" SET "Status" = 'Failed', "DueAt" = NULL WHERE "To" LIKE 'b@%'`
  const senders = app.startSenders()
  await eventually(() => expect(app.resend.mails).toHaveLength(2))
  await app.db.$executeRaw`UPDATE "Quvera_Mail" SET "Status" = 'Bounced' WHERE "To" LIKE 'a@%'`
  await eventually(() => expect(app.resend.mails).toHaveLength(4)) // a summary for each
  await senders.stop(1000)
  for (const { subject, text } of app.resend.mails) expect(subject + text).toContain('Quvera 500')
  expect((await submit(app.url, order)).status).toBe(409) // no longer the same order
  const exported = await staff(['export', '--json'], app.env)
  expect(JSON.parse(exported.stdout)).toMatchObject([
    { Reference: reference, Products: 'Quvera 500', RetailerSelfUse: 'Hospital' },
  ])
  const cookie = await enterDesk(app, { email: 'a@quvera.test' })
  const list = await callDesk(app.url, cookie, 'list', { state: 'new' })
  expect(list.data.enquiries).toMatchObject([{ products: 'Quvera 500' }])
  expect((await callDesk(app.url, cookie, 'show', { reference })).data.products).toBe('Quvera 500')
  for (const command of [['mails'], ['check'], ['export', '--person', order.email]])
    expect(await staff(command, app.env)).toMatchObject({ code: 0 })
})
