// The form of an order, which React draws, works and says the same while a translation tool changes the page.
// Not in `npm test`: no document promises it, and only a new React or a new part of a form may break it.
import type { Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { progressTexts, uncertain } from '../../client/content/sending.ts'
import { messages } from '../../shared/order.ts'
import { eventually } from '../support/eventually.ts'
import { anAddress, fillOrder, typedOrder } from '../support/fill-order.ts'
import { translate } from '../support/translate.ts'
import { siteForTests } from '../support/visit.ts'

const { newcomer, site, storedFrom } = siteForTests({ pictures: false })

/** The form says this, and not any more what it said before. */
async function expectSays(page: Page, words: string, before = 'undefined') {
  await eventually(async () => {
    const text = (await page.locator('#order').innerText()).toLowerCase()
    expect(text).toContain(words.toLowerCase())
    expect(text).not.toContain(before.toLowerCase())
  })
}

it('on a translated page an order is refused, uncertain, tried again and received, with the choices of the page', async () => {
  const { page, problems } = await newcomer()
  await page.goto(`${site().url}/buy-now`)
  await page.locator('#order-name').press('Shift') // else the browser would post the form
  await page.locator('[data-island=order][data-hydrated]').waitFor()
  await page.evaluate(translate)
  const send = () => page.locator('.send').click()
  await send()
  await expectSays(page, messages.empty)
  const email = anAddress()
  await fillOrder(page, { email })
  const error = { code: -32000, message: messages.failed, data: { code: 'REFUSED', httpStatus: 503 } }
  let answer = 'fails'
  await page.route('**/trpc/order.submit', (route) => {
    if (answer === 'fails') return route.fulfill({ status: 503, json: { error } })
    if (answer === 'works') return route.continue()
    answer = 'works'
    return route.abort('connectionreset')
  })
  await send()
  await expectSays(page, progressTexts.unavailable, messages.empty)
  await expectSays(page, uncertain, progressTexts.unavailable) // after ten seconds
  answer = 'breaks'
  await send()
  await page.getByText(progressTexts.again(2)).waitFor()
  await page.locator('.reference').waitFor()
  const { products, retailerSelfUse } = typedOrder
  const [row] = await storedFrom(email)
  expect(row).toMatchObject({ products: products.replace(' ', ''), retailerSelfUse })
  expect(await page.locator('.reference').innerText()).toBe(row?.reference)
  await page.getByRole('button', { name: /send another enquiry/i }).click()
  await expectSays(page, 'What happens next', messages.received)
  expect(problems.filter((problem) => !problem.includes('Failed to load resource'))).toEqual([])
})
