import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { siteForTests } from '../support/visit.ts'

const { site: running, open } = siteForTests()

it('an order goes from the form to the table to the inbox', async () => {
  const site = running()
  const { page, problems, close } = await open('/buy-now')
  await page.getByLabel('Name').fill('Asha Verma')
  await page.locator('[name=email]').first().fill('asha.verma@shop.example')
  await page.locator('[name=mobile]').fill('+91 98765-43210')
  await page.locator('[name=quantity]').fill('24')
  await page.locator('[name=retailerSelfUse]').selectOption('Self Use')
  await page.locator('[name=products]').selectOption('Quvera XT')
  await page.getByRole('button', { name: /send/i }).click()

  await page.locator('.Toastify__toast', { hasText: 'Order Received Successfully' }).waitFor()
  const reference = /QV-[2-9A-Z]{6}/.exec((await page.locator('main').textContent()) ?? '')?.[0]
  expect(reference).toBeDefined()
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
      Products: 'Quvera XT',
      SuspectedSpam: false,
    },
  ])
  await eventually(() =>
    expect(site.resend.mails.map((mail) => mail.to[0]).sort()).toEqual([
      'asha.verma@shop.example',
      'care@quvera.example',
    ]),
  )
  expect(site.resend.mails.every((mail) => mail.text.includes(reference ?? '?'))).toBe(true)
  expect(problems).toEqual([])
  await close()
})
