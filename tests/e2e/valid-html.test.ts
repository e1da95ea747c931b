// Every page of visitors is valid HTML, in every state of its forms, with scripts and without.
import { expect, it } from 'vitest'
import { brand } from '../../shared/brand.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { RECEIVED_PATH } from '../../shared/form-outcome.ts'
import { anAddress, fillOrder, sendButton, typedOrder } from '../support/fill-order.ts'
import { current, faultsOf } from '../support/valid-html.ts'
import { paths, siteForTests } from '../support/visit.ts'

const { fetch, html, visit } = siteForTests({ pictures: false })
it.each([
  ...[...paths, '/nowhere', '/subscribed', '/subscription?token=unknown'],
  ...['/staff/sign-in', '/staff/sign-in?sent', '/staff/enter?token=unknown'],
])('%s', async (path) => {
  expect(await faultsOf(await html(path))).toEqual([])
})

it('the pages that answer forms sent without scripts', async () => {
  for (const [path, values] of [
    ['/buy-now', { ...typedOrder, name: '', email: 'nobody' }],
    ...(brand.newsletter ? [[productPath(products[0]), { email: 'nobody' }] as const] : []),
    ['/buy-now', { ...typedOrder, email: anAddress() }],
  ] as const) {
    const answer = await fetch(path, { method: 'POST', body: new URLSearchParams(values) })
    if (answer.ok) expect(answer.url).toContain(RECEIVED_PATH)
    const source = await answer.text()
    expect(await faultsOf(source), path).toEqual([])
    expect(source).not.toContain('public-url.invalid') // the place of PUBLIC_URL, in this page too
  }
})

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
    if (state !== '.field-doubt') await sendButton(page).click() // a doubt holds nothing back
    await page.locator(state).first().waitFor()
    expect(await faultsOf(await current(page)), state).toEqual([])
  }
})
