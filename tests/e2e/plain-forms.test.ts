// Without scripts a visitor can order and subscribe, and a refused form says what is wrong and keeps what was typed.
import { beforeEach, describe, expect, it } from 'vitest'
import { subscribe } from '../../client/content/contact.ts'
import { enquiryReceived, notLookedUp, receivedEarlier } from '../../client/content/enquiry-form.ts'
import { emptyFieldError, uncertain } from '../../client/content/sending.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { fillOrder, sendButton, typedOrder } from '../support/fill-order.ts'
import { freePort } from '../support/server-process.ts'
import { storeEnquiry } from '../support/stored-enquiry.ts'
import { ownSiteForTests } from '../support/visit.ts'

const port = String(await freePort())
const {
  newcomer,
  visit,
  site,
  fetch: ask,
} = ownSiteForTests({ PORT: port, PUBLIC_URL: `http://localhost:${port}` }, { pictures: false })
const PLAIN = { javaScriptEnabled: false }
const fields = { ...typedOrder, mobile: '+91 98765-43210' }

const stored = () => site().inspect((db) => db.enquiry.findMany())
beforeEach(() =>
  site().inspect(async (db) => {
    await db.enquiry.deleteMany()
    await db.subscriber.deleteMany()
  }),
)

function post(path: string, values: Record<string, string>, headers: Record<string, string> = {}) {
  return ask(path, { method: 'POST', redirect: 'manual', body: new URLSearchParams(values), headers })
}

it('without scripts an order is received on the home page, and a reload sends nothing', async () => {
  const { page, problems } = await visit('/', PLAIN)
  await fillOrder(page, { mobile: '098765 43210' })
  await sendButton(page).click()
  await page.getByRole('heading', { level: 1, name: enquiryReceived.heading }).waitFor()
  expect(await page.getByText(messages.received).isVisible()).toBe(true)
  const rows = await stored()
  expect(rows).toMatchObject([{ mobile: '9876543210', suspectedSpam: false }])
  const reference = page.locator('.reference')
  expect(await reference.textContent()).toBe(rows[0]?.reference)
  expect(await page.locator('main').innerText()).not.toMatch(/inbox|copy|by e-?mail/i)
  expect(await page.getByRole('button', { name: /Copy|Print|Share/ }).count()).toBe(0) // they need scripts
  const label = await page.locator('main table').innerText()
  expect(label.split(/\s{2,}|\t|\n/)).toEqual([
    ...['Product', typedOrder.products, 'Quantity', typedOrder.quantity],
    ...['Received', expect.stringMatching(/^\d{2} [A-Z][a-z]{2} \d{4} \d\d:\d\d IST$/)],
  ])
  await page.reload()
  expect(await reference.textContent()).toBe(rows[0]?.reference)
  expect(await stored()).toHaveLength(1)
  expect(problems).toEqual([])
})

it('without scripts a broken rule is told, its fields are marked, and everything typed is there', async () => {
  const { page } = await visit('/buy-now', PLAIN)
  const name = page.locator('#order-name')
  await fillOrder(page, { name: ' ', quantity: '24', products: products[1] })
  await sendButton(page).click()
  const alert = page.getByRole('alert').getByText(messages.empty)
  await expect.poll(async () => (await alert.boundingBox())?.y).toBeLessThan(300)
  expect(await page.locator('[aria-invalid=true]').count()).toBe(1)
  expect(await name.getAttribute('aria-invalid')).toBe('true')
  expect(await name.getAttribute('aria-describedby')).toBe('order-name-error order-name-help')
  expect(await page.locator('#order-name-error').textContent()).toBe(emptyFieldError)
  expect(await page.locator('#order-products').inputValue()).toBe(products[1])
  await name.fill('Asha Verma')
  await sendButton(page).click()
  await page.getByText(messages.received).waitFor()
  expect(await stored()).toMatchObject([{ quantity: 24n }])
})

it('without scripts the button pressed twice, and Enter in a field, are one order', async () => {
  const { page } = await visit('/buy-now', PLAIN)
  await fillOrder(page)
  await sendButton(page).dblclick()
  await page.getByText(messages.received).waitFor()
  await page.goBack()
  await fillOrder(page)
  await page.locator('#order-name').press('Enter')
  await page.getByText(messages.received).waitFor()
  expect(await stored()).toHaveLength(1)
})

it.each(['no scripts', 'scripts that come with the failure', 'scripts of the form too'])(
  'a form that may or may not be stored says so, and sent again it is the same order, with %s',
  async (what) => {
    const rename = (from: string, to: string) =>
      site().inspect((db) => db.$executeRawUnsafe(`ALTER TABLE "${from}" RENAME TO "${to}"`))
    const { page } = await newcomer({ javaScriptEnabled: what !== 'no scripts' })
    await page.route('**/assets/*.js', (route) => route.abort())
    await page.goto(`${site().url}/buy-now`)
    await fillOrder(page)
    await page.unrouteAll()
    await rename('Quvera_Mail', 'Away')
    await sendButton(page).click()
    await page.getByRole('alert').getByText(messages.failed).waitFor()
    await rename('Away', 'Quvera_Mail')
    expect(await page.locator('#order').innerText()).toContain(uncertain)
    const key = await page.locator('[name=submissionKey]').getAttribute('value')
    if (what !== 'no scripts') await page.locator('html[data-ready]').waitFor()
    if (what === 'scripts of the form too') {
      await page.locator('#order-name').focus()
      await page.locator('[data-island=order][data-hydrated]').waitFor()
    }
    await sendButton(page).click() // posted by the browser until React is there
    await page.getByText(messages.received).first().waitFor()
    expect(await stored()).toMatchObject([{ submissionKey: key }])
  },
)

it('the page that tells of a broken rule is hydrated as it stands, and then works with scripts', async () => {
  const { page, problems } = await visit('/buy-now')
  await fillOrder(page, { email: 'nobody' })
  await page.locator('#order').evaluate((form) => (form as HTMLFormElement).submit())
  await page.getByRole('alert').getByText(messages.email).waitFor()
  await page.locator('html[data-ready]').waitFor()
  expect(await page.locator('#order-name').inputValue()).toBe('Asha Verma')
  expect(await page.locator('[aria-invalid=true]').count()).toBe(1)
  await fillOrder(page)
  await sendButton(page).click()
  await page.locator('.Toastify__toast', { hasText: messages.received }).waitFor()
  expect(problems.filter((problem) => !problem.includes('400'))).toEqual([])
})

it('a product page that is rendered again for a refused form names the public address', async () => {
  const path = productPath(products[0])
  const answer = await post(path, { email: 'nobody' })
  const html = (await answer.text()).replaceAll('<!-- -->', '') // React writes them between two texts
  expect(html).toContain(messages.email)
  expect(html).toContain(`http://localhost:${port}${path}, printed on`)
  expect(html).not.toContain('public-url.invalid')
})

it('without scripts somebody subscribes in the footer, and confirms and ends it by the link of the mail', async () => {
  const { page, problems } = await visit('/privacy-policy', PLAIN)
  const title = page.getByRole('heading', { level: 1 })
  const box = page.getByRole('contentinfo')
  const field = box.getByLabel('Email address')
  const button = box.getByRole('button', { name: 'Subscribe' })
  await field.fill('nobody')
  await button.click()
  await box.getByText(messages.email).waitFor()
  expect(await field.inputValue()).toBe('nobody')
  await field.fill('reader@shop.example')
  await button.click()
  await page.getByText(subscribe.done).waitFor()
  expect(await title.textContent()).toBe('Almost subscribed')
  expect(await field.count()).toBe(0)

  const mail = () => site().resend.mails.find(({ to }) => to[0] === 'reader@shop.example')
  await expect.poll(mail).toBeDefined()
  const [path = ''] = /\/subscription\?token=\S+/.exec(mail()?.text ?? '') ?? []
  const press = (name: string) => page.locator('main').getByRole('button', { name }).click()
  const confirmed = () => site().inspect((db) => db.subscriber.count({ where: { confirmedAt: { not: null } } }))
  await page.goto(site().url + path)
  expect(await page.locator('meta[name=robots]').getAttribute('content')).toBe('noindex')
  await press('Confirm my subscription')
  await title.getByText('You are on the list').waitFor()
  expect(await confirmed()).toBe(1)
  await press('End my subscription')
  await title.getByText('You are not on the list').waitFor()
  expect(await confirmed()).toBe(0)
  // The address of an enquiry by the same person stays.
  expect(await page.locator('main .lead').textContent()).toContain('from the list within two days')
  expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]) // of the first address
  await page.goto(site().url + path)
  expect(await title.textContent()).toBe('This link has ended')
  expect(await field.count()).toBe(0)
})

describe('a form that must not get through', () => {
  it.each([
    ['from another site', {}, { origin: 'https://evil.example' }, 403],
    ['from another site, says the browser', {}, { 'sec-fetch-site': 'cross-site' }, 403],
    ['of another kind', {}, { 'content-type': 'text/plain' }, 415],
    ['that is too large', { name: 'x'.repeat(70_000) }, {}, 413],
  ])('%s', async (_, changes, headers, status) => {
    const answer = await post('/buy-now', { ...fields, ...changes }, headers as Record<string, string>)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
    const html = await answer.text()
    expect(html).toMatch(/role="alert">[^<]{10,}/)
    expect(html).toContain('Go back in your browser: what you typed is still there.') // none of them was read
    expect(await stored()).toEqual([])
  })

  it('cannot put anything but text into the page', async () => {
    const evil = `"><script>alert(1)</script></script><img src=x onerror=alert(1)>$&$\``
    const html = await (await post('/buy-now', { ...fields, name: evil, email: evil, products: evil })).text()
    expect(html).not.toContain('<script>alert')
    expect(html).not.toContain('<img src=x')
    expect(html.match(/<form /g)).toHaveLength(2)
    expect(html).toMatch(/<option value="" disabled="" hidden="" selected="">Please choose/) // and no product is chosen
  })

  it('nor can the address of the page that follows an order', async () => {
    for (const reference of ['', '<b>', 'QV-000000', 'QV-7K3M9P<', 'QV-7K3M9P%0A', 'QV-7K3M9P&reference=QV-7K3M9P'])
      expect((await ask(`/received?reference=${reference}`)).status, reference).toBe(404)
    for (const reference of ['QV-7K3M9P', 'OLD-2B3C4D']) {
      await site().inspect((db) => storeEnquiry(db, { reference, quantity: 321n }))
      const answer = await ask(`/received?reference=${reference}`)
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
      expect(await answer.text()).toMatch(/<meta name="robots" content="noindex"[\s\S]*321/)
    }
    const receivedAt = new Date('2026-11-22T08:35:00Z')
    const earlier = await site().inspect((db) => storeEnquiry(db, { receivedAt }))
    expect(await (await ask(`/received?reference=${earlier}`)).text()).toContain(
      receivedEarlier('22 Nov 2026 14:05 IST'),
    )
  })

  it('and confirms nothing that cannot be looked up', async () => {
    const reference = await site().inspect((db) => storeEnquiry(db, { reference: 'QV-9K3M9P' }))
    await site().inspect((db) => db.$executeRaw`ALTER TABLE "Quvera_Form" RENAME TO "Away"`)
    const html = await (await ask(`/received?reference=${reference}`)).text()
    const madeUp = await ask('/received?reference=call-0900-123456')
    await site().inspect((db) => db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_Form"`)
    expect(html).toContain(notLookedUp.lead)
    expect(html).toContain(reference)
    expect(html).not.toContain(enquiryReceived.heading)
    expect(madeUp.status).toBe(404) // what cannot be a reference is not shown either
  })
})

it('a program in the hidden field is stored as suspected spam, as with scripts', async () => {
  expect((await post('/', { ...fields, website: 'https://spam.example' })).status).toBe(303)
  expect((await stored()).map((row) => row.suspectedSpam)).toEqual([true])
})
