// A reload keeps what was typed, and the same order for the other product is one press, also after a lost answer.
import type { Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { uncertain } from '../../client/content/sending.ts'
import { brand } from '../../shared/brand.ts'
import { buyNowPath, products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { violations } from '../support/axe.ts'
import { hold, intercept } from '../support/browser.ts'
import { anAddress, fillOrder, sendButton, toastOf, typedOrder } from '../support/fill-order.ts'
import { PHONE, siteForTests } from '../support/visit.ts'

const { newcomer, site, storedFrom, visit } = siteForTests({ pictures: false })
const HOUR_MS = 3_600_000
const hydrated = (page: Page) => page.locator('[data-island=order][data-hydrated]').waitFor()
const typedIn = (page: Page, name: string) => page.locator(`#order [name=${name}]`).inputValue()
const draft = (page: Page) => page.evaluate(() => sessionStorage.getItem('draft'))

it('a reload keeps what was typed, loads the code of the form at once, and the order takes the draft with it', async () => {
  const email = anAddress()
  const { page } = await visit('/buy-now', PHONE)
  await fillOrder(page, { email, quantity: '' })
  await page.reload()
  await hydrated(page) // nobody has touched it
  for (const [name, value] of Object.entries({ ...typedOrder, email, quantity: '' }))
    expect(await typedIn(page, name), name).toBe(value)
  expect(Object.keys(JSON.parse((await draft(page)) ?? '').values).sort()).toEqual(Object.keys(typedOrder).sort())
  await page.locator('#order [name=quantity]').fill('7')
  await sendButton(page).click()
  await toastOf(page, messages.received).waitFor()
  expect(await storedFrom(email)).toMatchObject([{ quantity: 7n, suspectedSpam: false }])
  expect(await draft(page)).toBeNull()
  await page.reload()
  expect(await typedIn(page, 'name')).toBe('')
  expect(await draft(page)).toBeNull()
})

it('a product in the address counts more than the draft, and a draft of more than an hour not at all', async () => {
  const { page } = await newcomer(PHONE)
  await page.clock.install()
  const open = async (path: string) => {
    await page.goto(site().url + path)
    await page.locator('html[data-ready]').waitFor()
  }
  await open('/')
  await fillOrder(page)
  await open(buyNowPath(products[1]))
  expect([await typedIn(page, 'products'), await typedIn(page, 'name')]).toEqual([products[1], typedOrder.name])
  await page.clock.fastForward(HOUR_MS)
  await page.evaluate(() => document.querySelector('#order')?.remove()) // no new draft is kept
  await page.clock.fastForward(HOUR_MS)
  await open('/buy-now')
  expect([await typedIn(page, 'name'), await draft(page)]).toEqual(['', null])
})

it('the other product is one press on a phone, below the slip, and a lost answer of it doubles nothing', async () => {
  const email = anAddress()
  const { page } = await visit('/buy-now', { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true })
  await fillOrder(page, { email })
  await hydrated(page)
  await sendButton(page).tap()
  const same = page.getByRole('button', { name: `Also ask for ${typedOrder.quantity} packs of ${products[1]}` })
  await same.waitFor()
  expect(await page.locator('.slip:visible, .received .button').evaluateAll((parts) => parts.length)).toBe(1)
  const restore = await intercept(page, '**/trpc/order.submit', async (route) => {
    await route.fetch()
    await route.abort('connectionreset')
  })
  await same.tap()
  await expect.poll(() => storedFrom(email)).toHaveLength(2)
  page.on('dialog', (dialog) => dialog.accept())
  await page.reload()
  await restore()
  await page.getByText(uncertain).waitFor()
  expect(await typedIn(page, 'products')).toBe(products[1])
  await sendButton(page).tap()
  await toastOf(page, messages.received).waitFor()
  const rows = await storedFrom(email)
  expect(rows.map((row) => row.suspectedSpam)).toEqual([false, false])
  expect(new Set(rows.map(({ quantity, name }) => `${quantity} ${name}`)).size).toBe(1)
  expect(new Set(rows.map(({ products: product }) => product)).size).toBe(2)
  expect(await page.locator('.reference').innerText()).toBe(rows[1]?.reference)
  await page.reload()
  for (const { reference } of rows) await page.getByRole('link', { name: reference }).waitFor()
  expect(await page.locator('[data-sent]').innerText()).toMatch(/: [A-Z]+-\w{6}, [A-Z]+-\w{6}$/)
})

it('what was typed before the code of the form came is doubted as well', async () => {
  const { page } = await newcomer()
  const release = await hold(page, '**/assets/order-form-*.js')
  await page.goto(`${site().url}/buy-now`)
  await fillOrder(page, { email: 'meera@gmial.con' })
  expect(await page.locator('[data-hydrated]').count()).toBe(0)
  release()
  await page.getByRole('button', { name: 'meera@gmail.com' }).waitFor()
})

it('a doubt at its field, and the other product, are reached by the keyboard, and both references have no fault', async () => {
  const { page } = await visit('/buy-now', { ...PHONE, reducedMotion: 'reduce' })
  const email = anAddress()
  await fillOrder(page, { email: 'meera@gmial.con' })
  const suggestion = page.getByRole('button', { name: 'meera@gmail.com' })
  await suggestion.waitFor()
  await page.locator('#order [name=email]').focus()
  await page.keyboard.press('Tab')
  expect(await suggestion.evaluate((button) => button === document.activeElement)).toBe(true)
  await page.keyboard.press('Enter')
  expect(await typedIn(page, 'email')).toBe('meera@gmail.com')
  await page.locator('#order [name=email]').fill(email)
  await page.keyboard.press('Enter')
  await page.locator('.received').waitFor()
  const other = `Also ask for ${typedOrder.quantity} packs of ${products[1]}`
  for (const name of ['Copy', 'Print', 'Share', ...(brand.whatsapp ? ['Ask on WhatsApp'] : []), other]) {
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(name)
  }
  await page.keyboard.press('Enter')
  await page.getByText(`For ${products[1]}:`).waitFor()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/^For .*[2-9A-Z]{6}$/)
  expect(await violations(page)).toEqual([])
  expect(await storedFrom(email)).toHaveLength(2)
})
