// Without scripts a visitor can order and subscribe, and a refused form says what is wrong and keeps what was typed.
import { beforeEach, expect, it } from 'vitest'
import { subscribe } from '../../client/content/contact.ts'
import { enquiryReceived, notLookedUp, receivedEarlier } from '../../client/content/enquiry-form.ts'
import { emptyFieldError, progressTexts, uncertain } from '../../client/content/sending.ts'
import { brand } from '../../shared/brand.ts'
import { buyNowPath, products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { intercept } from '../support/browser.ts'
import { fillOrder, sendButton, typedOrder } from '../support/fill-order.ts'
import { freePort } from '../support/server-process.ts'
import { storeEnquiry } from '../support/stored-enquiry.ts'
import { ownSiteForTests } from '../support/visit.ts'

const port = String(await freePort())
const {
  newcomer,
  visit,
  site,
  html,
  fetch: ask,
} = ownSiteForTests({ PORT: port, PUBLIC_URL: `http://localhost:${port}` }, { pictures: false })
const PLAIN = { javaScriptEnabled: false }

const stored = () => site().inspect((db) => db.enquiry.findMany())
const rename = (from: string, to: string) =>
  site().inspect((db) => db.$executeRawUnsafe(`ALTER TABLE "${from}" RENAME TO "${to}"`))

beforeEach(() =>
  site().inspect(async (db) => {
    await db.enquiry.deleteMany()
    await db.subscriber.deleteMany()
  }),
)

function post(changes: Record<string, string>, headers: Record<string, string> = {}) {
  const body = new URLSearchParams({ ...typedOrder, ...changes })
  return ask('/buy-now', { method: 'POST', redirect: 'manual', body, headers })
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
  expect(await page.getByRole('button', { name: /Copy|Print|Share/ }).count()).toBe(0) // they need scripts
  expect(await page.getByText(enquiryReceived.mailLeads).isVisible()).toBe(true)
  const label = await page.locator('main table').innerText()
  expect(label.split(/\s{2,}|\t|\n/)).toEqual([
    ...['Product', typedOrder.products, 'Quantity', `${typedOrder.quantity} packs`],
    ...['Received', expect.stringMatching(/^\d{2} [A-Z][a-z]{2} \d{4} \d\d:\d\d IST$/)],
  ])
  await page.reload()
  expect(await reference.textContent()).toBe(rows[0]?.reference)
  expect(await stored()).toHaveLength(1)
  await page.getByRole('link', { name: `Ask for ${products[1]} too` }).click()
  expect(page.url()).toBe(site().url + buyNowPath(products[1]))
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
  expect(await name.getAttribute('aria-describedby')).toBe('order-name-error order-name-help')
  expect(await page.locator('#order-name-error').textContent()).toBe(emptyFieldError)
  expect(await page.locator('#order-products').inputValue()).toBe(products[1])
  await name.fill('Asha Verma')
  await sendButton(page).click()
  await page.getByText(messages.received).waitFor()
  expect(await stored()).toMatchObject([{ quantity: 24n }])
})

it.each(['no scripts', 'scripts of the form'])(
  'a form that may or may not be stored says so, and sent again it is the same order, with %s',
  async (what) => {
    const { page, problems } = await newcomer({ javaScriptEnabled: what !== 'no scripts' })
    const restore = await intercept(page, '**/assets/*.js', (route) => route.abort())
    await page.goto(`${site().url}/buy-now`)
    await fillOrder(page)
    await restore()
    await rename('Quvera_Mail', 'Away')
    await sendButton(page).click()
    await page.getByRole('alert').getByText(messages.failed).waitFor()
    await rename('Away', 'Quvera_Mail')
    expect(await page.locator('#order').innerText()).toContain(uncertain)
    const key = await page.locator('[name=submissionKey]').getAttribute('value')
    if (what !== 'no scripts') {
      await page.locator('html[data-ready]').waitFor()
      await page.locator('#order-name').focus()
      await page.locator('[data-island=order][data-hydrated]').waitFor()
      expect(await page.locator('#order-name').inputValue()).toBe(typedOrder.name)
    }
    await sendButton(page).click()
    await page.getByText(messages.received).first().waitFor()
    expect(await stored()).toMatchObject([{ submissionKey: key }])
    expect(problems.filter((problem) => problem.includes('React'))).toEqual([]) // it takes the page as it stands
  },
)

it('with scripts, a database that is away for a moment costs a sentence and no second press', async () => {
  const { page } = await visit('/buy-now')
  await fillOrder(page)
  await page.locator('[data-island=order][data-hydrated]').waitFor()
  await rename('Quvera_Mail', 'Away')
  await sendButton(page).click()
  await page.getByText(progressTexts.unavailable).waitFor()
  await rename('Away', 'Quvera_Mail')
  await page.locator('.reference').waitFor()
  expect(await stored()).toHaveLength(1)
})

it.runIf(brand.newsletter)(
  'without scripts somebody subscribes in the footer, and confirms and ends it by the link of the mail',
  async () => {
    const { page } = await visit('/privacy-policy', PLAIN)
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

    const mail = () => site().resend.mails.find(({ to }) => to[0] === 'reader@shop.example')
    await expect.poll(mail).toBeDefined()
    const [path = ''] = /\/subscription\?token=\S+/.exec(mail()?.text ?? '') ?? []
    const press = (name: string) => page.locator('main').getByRole('button', { name }).click()
    const confirmed = () => site().inspect((db) => db.subscriber.count({ where: { confirmedAt: { not: null } } }))
    await page.goto(site().url + path)
    await press('Confirm my subscription')
    await title.getByText('You are on the list').waitFor()
    expect(await confirmed()).toBe(1)
    await press('End my subscription')
    await title.getByText('You are not on the list').waitFor()
    expect(await confirmed()).toBe(0)
    await page.goto(site().url + path)
    expect(await title.textContent()).toBe('This link has ended')
  },
)

it.each([
  ['from another site', {}, { origin: 'https://evil.example' }, 403],
  ['of another kind', {}, { 'content-type': 'text/plain' }, 415],
  ['that is too large', { name: 'x'.repeat(70_000) }, {}, 413],
])('a form %s is refused on a page that leads back to what was typed', async (_, changes, headers, status) => {
  const answer = await post({ ...changes }, { ...headers })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
  const page = await answer.text()
  expect(page).toMatch(/role="alert">[^<]{10,}/)
  expect(page).toContain('Go back in your browser: what you typed is still there.') // none of them was read
  expect(await stored()).toEqual([])
})

it('a form cannot put anything but text into the page', async () => {
  const evil = `"><script>alert(1)</script></script><img src=x onerror=alert(1)>$&$\``
  const page = await (await post({ name: evil, email: evil, products: evil })).text()
  expect(page).not.toContain('<script>alert')
  expect(page).not.toContain('<img src=x')
  expect(page.match(/<form /g)).toHaveLength(brand.newsletter ? 2 : 1)
  expect(page).toMatch(/<option value="" disabled="" hidden="" selected="">Please choose/) // and no product is chosen
})

it('the page that follows an order takes references only, is kept by nobody, and says when the order came before', async () => {
  for (const reference of ['', '<b>', 'QV-000000', 'QV-7K3M9P<', 'QV-7K3M9P&reference=QV-7K3M9P'])
    expect((await ask(`/received?reference=${reference}`)).status, reference).toBe(404)
  const receivedAt = new Date('2026-11-22T08:35:00Z')
  await site().inspect((db) => storeEnquiry(db, { reference: 'OLD-2B3C4D', quantity: 321n, receivedAt }))
  const answer = await ask('/received?reference=OLD-2B3C4D')
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
  const page = await answer.text()
  expect(page).toMatch(/<meta name="robots" content="noindex"[\s\S]*321/)
  expect(page).toContain(receivedEarlier('22 Nov 2026 14:05 IST'))
})

it('it confirms nothing that cannot be looked up', async () => {
  const reference = await site().inspect((db) => storeEnquiry(db, { reference: 'QV-9K3M9P' }))
  await rename('Quvera_Form', 'Away')
  const page = await html(`/received?reference=${reference}`)
  const madeUp = await ask('/received?reference=call-0900-123456')
  await rename('Away', 'Quvera_Form')
  expect(page).toContain(notLookedUp.lead)
  expect(page).toContain(reference)
  expect(page).not.toContain(enquiryReceived.heading)
  expect(madeUp.status).toBe(404) // what cannot be a reference is not shown either
})
