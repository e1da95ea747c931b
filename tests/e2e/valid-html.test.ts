// Every page is valid HTML, in every state of its forms, with scripts and without.
import type { Page } from '@playwright/test'
import { HtmlValidate } from 'html-validate'
import { expect, it } from 'vitest'
import { productPath, products } from '../../shared/catalogue.ts'
import { RECEIVED_PATH } from '../../shared/form-outcome.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { enterDesk } from '../support/desk.ts'
import { anAddress, fillOrder, sendButton, typedOrder } from '../support/fill-order.ts'
import { paths, siteForTests } from '../support/visit.ts'

const { fetch, html, newcomer, site, visit } = siteForTests({ pictures: false })
const validator = new HtmlValidate({ extends: ['html-validate:standard'] })

async function faultsOf(source: string) {
  const { results } = await validator.validateString(source)
  const found = results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, selector }) => `${ruleId}: ${message} (${selector})`),
  )
  // The W3C's checker finds these two as well.
  const more = source.match(/<svg[^>]*\shidden|(?:href|src)="data:[^"]*\s[^"]*"/g) ?? []
  return [...found, ...more]
}

it.each([
  ...[...paths, '/nowhere', '/subscribed', '/subscription?token=unknown'],
  ...['/staff/sign-in', '/staff/sign-in?sent', '/staff/enter?token=unknown'],
])('%s', async (path) => {
  expect(await faultsOf(await html(path))).toEqual([])
})

it('the pages that answer forms sent without scripts', async () => {
  for (const [path, values] of [
    ['/buy-now', { ...typedOrder, name: '', email: 'nobody' }],
    [productPath(products[0]), { email: 'nobody' }],
    ['/buy-now', { ...typedOrder, email: anAddress() }],
  ] as const) {
    const answer = await fetch(path, { method: 'POST', body: new URLSearchParams(values) })
    if (answer.ok) expect(answer.url).toContain(RECEIVED_PATH)
    const source = await answer.text()
    expect(await faultsOf(source), path).toEqual([])
    expect(source).not.toContain('public-url.invalid') // the place of PUBLIC_URL, in this page too
  }
})

const current = (of: Page) => of.evaluate(() => `<!DOCTYPE html>${document.documentElement.outerHTML}`)

it('the form while it is refused, asks, and is received', async () => {
  const { page } = await visit('/buy-now')
  await page.locator('#order-name').focus()
  await page.locator('[data-island=order][data-hydrated]').waitFor()
  for (const [changes, state] of [
    [{ name: '' }, '.field-error'],
    [{ email: 'asha@gmial.con', mobile: '0123456789' }, '.field-doubt'],
    [{ email: anAddress() }, '.reference'],
  ] as const) {
    await fillOrder(page, changes)
    await sendButton(page).click()
    await page.locator(state).first().waitFor()
    expect(await faultsOf(await current(page)), state).toEqual([])
  }
})

it('the desk', async () => {
  const { reference = '' } = await submit(site().url, anOrder({ email: anAddress() }))
  const cookie = await site().inspect((db) => enterDesk({ url: site().url, db }))
  const [name = '', value = ''] = cookie.split('=')
  const { page } = await newcomer()
  await page.context().addCookies([{ name, value, url: site().url }])
  for (const [path, part] of [
    ['/staff', '.enquiry'],
    [`/staff/${reference}`, '.whole'],
  ] as const) {
    await page.goto(site().url + path)
    await page.locator(part).first().waitFor()
    expect(await faultsOf(await current(page)), path).toEqual([])
  }
})
