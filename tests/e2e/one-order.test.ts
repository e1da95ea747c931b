// An order sent in the browser is stored once, through lost answers, a lost network, reloads and repeated clicks.
import type { Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { buyNow } from '../../client/content/enquiry-form.ts'
import { progressTexts } from '../../client/content/sending.ts'
import { brand } from '../../shared/brand.ts'
import { RECEIVED_PATH } from '../../shared/form-outcome.ts'
import { messages } from '../../shared/order.ts'
import { hold, intercept } from '../support/browser.ts'
import { anAddress, fillOrder, sendButton, toastOf } from '../support/fill-order.ts'
import { siteForTests } from '../support/visit.ts'

const { newcomer, site, storedFrom, visit } = siteForTests({ pictures: false })
const SUBMIT = '**/trpc/order.submit'
const FORM_CODE = '**/assets/order-form-*.js'
const received = (page: Page) => toastOf(page, messages.received).waitFor()
const storedKey = (page: Page) => page.evaluate(() => sessionStorage.getItem('submission-key'))

/** The browser's own page in place of an answer: it comes late, and would end another navigation. */
const errorPage = (page: Page) => expect.poll(() => page.url()).toBe('chrome-error://chromewebdata/')

/** What is posted reaches the server, its answer never reaches the page. */
async function cutAnswers(page: Page, path: string) {
  return intercept(page, path, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    await route.fetch()
    await route.abort('connectionreset')
  })
}

it('without a network the form says so, keeps nothing of the visitor, and sends the order when it is back', async () => {
  const email = anAddress()
  const { page } = await newcomer()
  await page.clock.install()
  await page.goto(`${site().url}/buy-now`)
  await page.clock.runFor(1000)
  await page.locator('html[data-ready]').waitFor() // so that the first touch of the form is seen
  await fillOrder(page, { email })
  await page.locator('[data-island=order][data-hydrated]').waitFor()
  await page.context().setOffline(true)
  await sendButton(page).click()
  await page.getByText(progressTexts.offline).waitFor()
  await page.clock.runFor(60_000)
  expect(await page.locator('#order [name=name]').inputValue()).toBe('Asha Verma')
  expect(await storedFrom(email)).toHaveLength(0)
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))
  expect(kept).not.toMatch(/Asha|9876543210/)
  await page.context().setOffline(false)
  await received(page)
  expect(await storedFrom(email)).toHaveLength(1)
})

it('an order that the browser has begun to post is left to it, also when the code comes after all', async () => {
  const email = anAddress()
  const { page } = await newcomer()
  let posts = 0
  let sentByCode = 0
  page.on('request', (request) => request.url().includes('order.submit') && sentByCode++)
  const release = await hold(page, FORM_CODE)
  await page.route('**/buy-now', async (route) => {
    if (route.request().method() === 'POST' && posts++ === 0)
      release() // it gets no answer
    else await route.continue()
  })
  await page.goto(`${site().url}/buy-now`)
  await fillOrder(page, { email })
  await page.locator('#order').evaluate((form) => {
    const pressAgain = new PerformanceObserver((list) => {
      if (!list.getEntries().some(({ name }) => name.includes('/order-form-'))) return
      pressAgain.disconnect()
      const submit = () => (form as HTMLFormElement).requestSubmit()
      requestIdleCallback(submit, { timeout: 2000 }) // React would have taken over by then
    })
    form.addEventListener('submit', () => pressAgain.observe({ type: 'resource' }), { once: true })
  })
  await sendButton(page).click({ noWaitAfter: true })
  await page.locator('.reference').waitFor()
  expect([posts, sentByCode]).toEqual([2, 0])
  expect(await storedFrom(email)).toHaveLength(1)
})

it.each([
  ['by the code', 'by the code'],
  ['by the code', 'by the browser'],
  ['by the browser', 'by the code'],
])('sent %s without an answer, and then on a newly loaded page %s, it is one order', async (first, then) => {
  const email = anAddress()
  const { page } = await newcomer()
  /** Without its code the form is left to the browser. */
  async function send(by: string) {
    const restore = await intercept(page, FORM_CODE, (route) =>
      by === 'by the browser' ? route.abort() : route.fallback(),
    )
    await page.goto(`${site().url}/buy-now`)
    await fillOrder(page, { email })
    if (by === 'by the code') await page.locator('[data-island=order][data-hydrated]').waitFor()
    await sendButton(page).click({ noWaitAfter: true })
    return restore
  }
  const restoreAnswers = [await cutAnswers(page, '**/trpc/order.submit'), await cutAnswers(page, '**/buy-now')]
  const restoreCode = await send(first)
  await expect.poll(() => storedFrom(email)).toHaveLength(1)
  const [{ reference = '', submissionKey } = {}] = await storedFrom(email)
  // A page that shows a reference ends an order of the browser, and not one of the code: its answer may have been lost.
  if (first === 'by the code') await page.goto(`${site().url}${RECEIVED_PATH}?reference=${reference}`)
  else await errorPage(page)
  for (const restore of [restoreCode, ...restoreAnswers]) await restore()
  await send(then)
  await page.locator('.reference', { hasText: reference }).waitFor()
  expect((await storedFrom(email)).map((row) => row.submissionKey)).toEqual([submissionKey])
  await expect.poll(() => storedKey(page)).toBeNull() // the next order is a new one
})

it('a reference that was seen before, and one that there is not, end no order that was posted since', async () => {
  const email = anAddress()
  const { page } = await newcomer()
  const open = async (path: string) => {
    await page.goto(site().url + path)
    await page.locator('html[data-ready]').waitFor()
  }
  const restoreCode = await intercept(page, FORM_CODE, (route) => route.abort())
  await open('/buy-now')
  await fillOrder(page, { email })
  await sendButton(page).click()
  await page.locator('html[data-ready] .reference').waitFor() // so that the script has ended the first order
  const earlier = new URL(page.url())
  await open('/buy-now')
  const restoreAnswers = await cutAnswers(page, '**/buy-now')
  await fillOrder(page, { email, quantity: '7' })
  await sendButton(page).click({ noWaitAfter: true })
  await expect.poll(() => storedFrom(email)).toHaveLength(2)
  await errorPage(page)
  await restoreCode()
  await restoreAnswers()
  for (const path of [earlier.pathname + earlier.search, `${RECEIVED_PATH}?reference=${brand.referencePrefix}-222222`])
    await open(path)
  await open('/buy-now')
  await page.locator('[data-island=order][data-hydrated]').waitFor() // by itself, as its order may be stored
  expect(await page.locator('#order [name=quantity]').inputValue()).toBe('7')
  await sendButton(page).click()
  await received(page)
  expect(await storedFrom(email)).toHaveLength(2)
  expect(await storedKey(page)).toBeNull()
})

it('an order of a page of another version is posted by the browser, under the key of the code', async () => {
  const email = anAddress()
  const { page } = await visit('/buy-now')
  let sentKey: string | undefined
  await page.route(SUBMIT, async (route) => {
    const order = route.request().postDataJSON()
    sentKey = order.submissionKey
    await route.continue({ postData: { ...order, colour: 'amber' } })
  })
  await fillOrder(page, { email })
  await page.locator('#order').evaluate((form) => {
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name: 'colour', value: 'amber' }))
  })
  await page.locator('[data-island=order][data-hydrated]').waitFor()
  await sendButton(page).click({ noWaitAfter: true })
  await page.waitForURL(`**${RECEIVED_PATH}?*`)
  expect((await storedFrom(email)).map(({ submissionKey }) => submissionKey)).toEqual([sentKey])
})

it('going away and back keeps all that was filled in, and after an order shows an empty form with its reference, and sends nothing', async () => {
  const email = anAddress()
  const { page } = await visit('/buy-now')
  async function goAwayAndBack() {
    await page.goto(`${site().url}/privacy-policy`)
    await page.goBack()
    await page.locator('html[data-ready]').waitFor()
  }
  await fillOrder(page, { email })
  await goAwayAndBack()
  await page.locator('#order [name=name]').focus()
  await page.locator('[data-island=order][data-hydrated]').waitFor()
  await sendButton(page).click()
  await received(page)
  await goAwayAndBack()
  expect(await page.locator('[name=name]').inputValue()).toBe('')
  const rows = await storedFrom(email)
  expect(rows).toHaveLength(1)
  expect(await page.locator('[data-sent]').innerText()).toContain(rows[0]?.reference)
})

it('from a confirmation the header leads to an empty form', async () => {
  const { page } = await visit('/buy-now')
  await fillOrder(page, { email: anAddress() })
  await page.locator('[data-island=order][data-hydrated]').waitFor()
  await sendButton(page).click()
  await received(page)
  await page.locator('.site-header').getByRole('link', { name: buyNow.title }).click()
  await page.locator('#order [name=name]').waitFor()
  expect(await page.locator('[name=name]').inputValue()).toBe('')
})
