// An order that a visitor sends in the browser is stored with its fields, and mailed to staff and to the visitor.
import { expect, it } from 'vitest'
import { MIN_FILL_MS } from '../../server/orders/storing.ts'
import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { fillOrder, sendButton, toastOf } from '../support/fill-order.ts'
import { ownSiteForTests } from '../support/visit.ts'

const { site: running, open } = ownSiteForTests()
const product = products[1]

it('an order goes from the form to the table to the inbox', async () => {
  const site = running()
  const { page, problems } = await open('/buy-now')
  await fillOrder(page, { mobile: '+91 98765-43210', quantity: '24', retailerSelfUse: 'Self Use', products: product })
  await page.waitForFunction((ms) => performance.now() > ms, MIN_FILL_MS) // not to be suspected as a program
  await sendButton(page).click()

  await toastOf(page, messages.received).waitFor()
  const reference = (await page.locator('.reference').textContent()) ?? ''
  expect(reference).toMatch(new RegExp(`^${brand.referencePrefix}-[2-9A-Z]{6}$`))
  const rows = await site.inspect(
    (db) => db.$queryRaw<object[]>`
    SELECT "Reference", "Name", "Email", "Mobile", "Quantity"::int, "RetailerSelfUse"::text, "Products"::text, "SuspectedSpam" FROM "Quvera_Form"`,
  )
  expect(rows).toEqual([
    {
      Reference: reference,
      Name: 'Asha Verma',
      Email: 'asha.verma@shop.example',
      Mobile: '9876543210',
      Quantity: 24,
      RetailerSelfUse: 'Self Use',
      Products: product,
      SuspectedSpam: false,
    },
  ])
  await eventually(() =>
    expect(site.resend.mails.map((mail) => mail.to[0]).sort()).toEqual(['asha.verma@shop.example', STAFF].sort()),
  )
  expect(site.resend.mails.every((mail) => mail.text.includes(reference))).toBe(true)
  expect(problems).toEqual([])
})
