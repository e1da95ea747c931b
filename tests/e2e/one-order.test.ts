import type { Browser, Page } from '@playwright/test'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { launchBrowser, openPage } from '../support/browser.ts'
import { startSite } from '../support/site.ts'

let site: Awaited<ReturnType<typeof startSite>>
let browser: Browser
beforeAll(async () => {
  ;[site, browser] = await Promise.all([startSite(), launchBrowser()])
})
afterAll(async () => {
  await browser?.close()
  await site?.close()
})
beforeEach(() => site.inspect((db) => db.enquiry.deleteMany()))

const stored = () => site.inspect((db) => db.enquiry.findMany({ orderBy: { receivedAt: 'asc' } }))
const send = (page: Page) => page.getByRole('button', { name: /send enquiry/i })
const received = (page: Page) => page.locator('.Toastify__toast', { hasText: 'Order Received Successfully' }).waitFor()
const failed = (page: Page) => page.locator('.Toastify__toast', { hasText: 'Error adding document' }).first().waitFor()

async function fill(page: Page, quantity = '5') {
  await page.locator('[name=name]').fill('Asha Verma')
  await page.locator('[name=email]').first().fill('asha.verma@shop.example')
  await page.locator('[name=mobile]').fill('9876543210')
  await page.locator('[name=quantity]').fill(quantity)
  await page.locator('[name=retailerSelfUse]').selectOption('Retailer')
  await page.locator('[name=products]').selectOption('Quvera 300')
}

/** The request reaches the server, its answer never reaches the page. */
async function cutNextAnswer(page: Page) {
  await page.route(
    '**/trpc/order.submit',
    async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    },
    { times: 1 },
  )
}

it('three impatient clicks are one order', async () => {
  const { page, close } = await openPage(browser, `${site.url}/buy-now`)
  await fill(page)
  await send(page).click({ clickCount: 3, delay: 10 })
  await received(page)
  expect(await stored()).toHaveLength(1)
  await close()
})

it('clicks before the code has arrived are one order', async () => {
  const { page, close } = await openPage(browser, 'about:blank')
  await page.route('**/assets/hydrate-*.js', async (route) => {
    await new Promise((done) => setTimeout(done, 1500))
    await route.continue()
  })
  await page.goto(`${site.url}/buy-now`, { waitUntil: 'commit' })
  await fill(page)
  for (let click = 0; click < 3; click++) await send(page).click({ noWaitAfter: true })
  await received(page)
  expect(await stored()).toHaveLength(1)
  await close()
})

it('an order whose answer was lost keeps its values and is sent again as the same order', async () => {
  const { page, close } = await openPage(browser, `${site.url}/buy-now`)
  await cutNextAnswer(page)
  await fill(page)
  await send(page).click()
  await failed(page)
  expect(await page.locator('[name=name]').inputValue()).toBe('Asha Verma')
  expect(await stored()).toHaveLength(1)
  await send(page).click()
  await received(page)
  const rows = await stored()
  expect(rows).toHaveLength(1)
  expect(await page.locator('main').textContent()).toContain(rows[0]?.reference)
  await close()
})

it('the same order after a lost answer and a reload is the same order', async () => {
  const { page, close } = await openPage(browser, `${site.url}/buy-now`)
  await cutNextAnswer(page)
  await fill(page)
  await send(page).click()
  await failed(page)
  await page.reload()
  await fill(page)
  await send(page).click()
  await received(page)
  expect(await stored()).toHaveLength(1)
  await close()
})

it('an order that was changed after a lost answer is an order of its own', async () => {
  const { page, close } = await openPage(browser, `${site.url}/buy-now`)
  await cutNextAnswer(page)
  await fill(page)
  await send(page).click()
  await failed(page)
  await fill(page, '7')
  await send(page).click()
  await received(page)
  expect((await stored()).map((row) => row.quantity)).toEqual([5n, 7n])
  await close()
})

it('going away and back after an order shows an empty form and sends nothing', async () => {
  const { page, close } = await openPage(browser, `${site.url}/buy-now`)
  await fill(page)
  await send(page).click()
  await received(page)
  await page.goto(`${site.url}/privacy-policy`)
  await page.goBack()
  await page.waitForTimeout(500)
  expect(await page.locator('[name=name]').inputValue()).toBe('')
  expect(await stored()).toHaveLength(1)
  await close()
})

it('a database that is gone is told, the values stay, and the next try is stored', async () => {
  const { page, close } = await openPage(browser, `${site.url}/buy-now`)
  await page.route(
    '**/trpc/order.submit',
    (route) =>
      route.fulfill({
        status: 503,
        json: {
          error: {
            code: -32603,
            message: 'Error adding document',
            data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 },
          },
        },
      }),
    { times: 1 },
  )
  await fill(page)
  await send(page).click()
  await failed(page)
  expect(await page.locator('[name=email]').first().inputValue()).toBe('asha.verma@shop.example')
  await send(page).click()
  await received(page)
  expect(await stored()).toHaveLength(1)
  await close()
})
