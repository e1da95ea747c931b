// The forms, which React draws, work and say the same while a translation tool of the browser changes the page.
// Not in `npm test`: no document promises it, and only a new React or a new part of a form may break it.
import type { Page } from '@playwright/test'
import { describe, expect, it } from 'vitest'
import { progressTexts, uncertain } from '../../client/content/sending.ts'
import { brand } from '../../shared/brand.ts'
import { messages } from '../../shared/order.ts'
import { eventually } from '../support/eventually.ts'
import { anAddress, fillOrder, typedOrder } from '../support/fill-order.ts'
import { translate } from '../support/translate.ts'
import { siteForTests } from '../support/visit.ts'

const { newcomer, site, storedFrom } = siteForTests({ pictures: false })

const MOMENTS = ['before React comes', 'once React is there'] as const

/** A page that is translated from that moment on, with a form that has been touched: else the browser would post it. */
async function open(path: string, moment: (typeof MOMENTS)[number], field: string) {
  const { page, problems } = await newcomer()
  const translated = Promise.withResolvers<void>()
  await page.route('**/assets/hydrate-*.js', async (route) => {
    await translated.promise
    await route.continue()
  })
  await page.goto(site().url + path)
  await page.locator('html[data-ready]').waitFor()
  if (moment === 'before React comes') await page.evaluate(translate)
  translated.resolve()
  await page.locator(field).press('Shift')
  await page.locator('[data-hydrated]').waitFor()
  if (moment === 'once React is there') await page.evaluate(translate)
  // Of a page that was changed before, React says that it draws it anew.
  const faults = () => problems.filter((problem) => !/#418|Failed to load resource/.test(problem))
  return { page, faults }
}

/** The form says this, and not any more what it said before. */
async function expectSays(page: Page, form: string, words: string, before = 'undefined') {
  await eventually(async () => {
    const text = (await page.locator(form).innerText()).toLowerCase()
    expect(text).toContain(words.toLowerCase())
    expect(text).not.toContain(before.toLowerCase())
  })
}

describe.each(MOMENTS)('on a page that is translated %s', (moment) => {
  it('an order is refused, uncertain, tried again and received, with the choices of the page', async () => {
    const { page, faults } = await open('/buy-now', moment, '#order-name')
    const send = () => page.locator('.send').click()
    await send()
    await expectSays(page, '#order', messages.empty)
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
    await expectSays(page, '#order', progressTexts.unavailable, messages.empty)
    await expectSays(page, '#order', uncertain, progressTexts.unavailable) // after ten seconds
    answer = 'breaks'
    await send()
    await page.getByText(progressTexts.again(2)).waitFor()
    await page.locator('.reference').waitFor()
    const { products, retailerSelfUse } = typedOrder
    const [row] = await storedFrom(email)
    expect(row).toMatchObject({ products: products.replace(' ', ''), retailerSelfUse })
    expect(await page.locator('.reference').innerText()).toBe(row?.reference)
    await page.getByRole('button', { name: /send another enquiry/i }).click()
    await expectSays(page, '#order', 'What happens next', messages.received)
    expect(faults()).toEqual([])
  })

  it.runIf(brand.newsletter)('a subscription is refused, corrected and received', async () => {
    const { page, faults } = await open('/privacy-policy', moment, '#subscribe-email')
    const box = page.locator('#subscribe-email')
    await box.fill('nobody')
    await box.press('Enter')
    await expectSays(page, '#subscribe', messages.email)
    await box.fill(anAddress())
    await box.press('Enter')
    await expectSays(page, '#subscribe', 'look into your inbox', messages.email)
    expect(faults()).toEqual([])
  })
})
