// An order sent in the browser is stored once, through lost answers, a lost network, reloads and repeated clicks.
import type { Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { progressTexts, stoppedText } from '../../client/content/sending.ts'
import { RECEIVED_PATH } from '../../shared/form-outcome.ts'
import { messages } from '../../shared/order.ts'
import { anAddress, fillOrder, sendButton, toastOf } from '../support/fill-order.ts'
import { siteForTests } from '../support/visit.ts'

const { newcomer, open, site, storedFrom, visit } = siteForTests({ pictures: false })
const SUBMIT = '**/trpc/order.submit'
const FORM_CODE = '**/assets/order-form-*.js'
const received = (page: Page) => toastOf(page, messages.received).waitFor()
const storedKey = (page: Page) => page.evaluate(() => sessionStorage.getItem('submission-key'))

/** The request reaches the server, its answer never reaches the page. */
async function cutAnswers(page: Page, path = SUBMIT, times = Number.POSITIVE_INFINITY) {
  await page.route(
    path,
    async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    },
    { times },
  )
}

it('an order whose answer is lost is sent again by itself, and is one order', async () => {
  const email = anAddress()
  const { page } = await open('/')
  const isChecked = Promise.withResolvers<void>()
  await page.route(SUBMIT, async (route) => {
    await isChecked.promise
    await route.continue()
  })
  await cutAnswers(page, SUBMIT, 1)
  await fillOrder(page, { email })
  await sendButton(page).click()
  await page.getByText(progressTexts.again(2)).waitFor()
  expect(await page.locator('#order [name=name]').inputValue()).toBe('Asha Verma')
  isChecked.resolve()
  await received(page)
  const rows = await storedFrom(email)
  expect(rows).toHaveLength(1)
  expect(await page.locator('main').textContent()).toContain(rows[0]?.reference)
})

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
  const isPosted = Promise.withResolvers<void>()
  let posts = 0
  let sentByCode = 0
  page.on('request', (request) => request.url().includes('order.submit') && sentByCode++)
  await page.route(FORM_CODE, async (route) => {
    await isPosted.promise
    await route.continue()
  })
  await page.route('**/buy-now', async (route) => {
    if (route.request().method() === 'POST' && posts++ === 0)
      isPosted.resolve() // it gets no answer
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

it.each(['all code comes', 'the code of the form never comes'])(
  'the same order after a lost answer, the page of another reference and a new load in which %s is the same order',
  async (what) => {
    const email = anAddress()
    const { page } = await open('/buy-now')
    await cutAnswers(page)
    await fillOrder(page, { email })
    await sendButton(page).click()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText(stoppedText).waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    const [{ reference, submissionKey } = {}] = await storedFrom(email)
    await page.goto(`${site().url}${RECEIVED_PATH}?reference=${reference}`)
    const isWhole = what.startsWith('all')
    if (!isWhole) await page.route(FORM_CODE, (route) => route.abort())
    await page.goto(`${site().url}/buy-now`)
    await fillOrder(page, { email })
    await sendButton(page).click()
    if (isWhole) await received(page)
    else await page.waitForURL(`**${RECEIVED_PATH}?*`)
    expect(await page.locator('main').textContent()).toContain(reference)
    expect((await storedFrom(email)).map((row) => row.submissionKey)).toEqual([submissionKey])
    await expect.poll(() => storedKey(page)).toBeNull() // the next order is a new one
  },
)

it('an order posted by the browser whose answer is lost, and then sent by the code, is one order', async () => {
  const email = anAddress()
  const { page } = await newcomer()
  await page.route(FORM_CODE, (route) => route.abort())
  await page.goto(`${site().url}/buy-now`)
  await cutAnswers(page, '**/buy-now')
  await fillOrder(page, { email })
  const posted = page.waitForEvent('requestfailed', (request) => request.method() === 'POST')
  await sendButton(page).click({ noWaitAfter: true })
  await posted
  await page.unrouteAll({ behavior: 'wait' })
  await page.goto(`${site().url}/buy-now`)
  await fillOrder(page, { email })
  await sendButton(page).click()
  await received(page)
  expect(await storedFrom(email)).toHaveLength(1)
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
  expect(await page.locator('.chosen').innerText()).toContain(rows[0]?.reference)
})
