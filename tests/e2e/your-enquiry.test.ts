// The visitor's own page: without a script, on a phone, from the confirmation and from the mail.
import type { Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { enquiryReceived } from '../../client/content/enquiry-form.ts'
import { actTexts, yourEnquiryMessages } from '../../client/content/your-enquiry.ts'
import { violations } from '../support/axe.ts'
import { eventually } from '../support/eventually.ts'
import { anAddress, fillOrder, sendButton } from '../support/fill-order.ts'
import { putLongBrand } from '../support/long-brand.ts'
import { freePort } from '../support/server-process.ts'
import { hoursAgo } from '../support/stored-enquiry.ts'
import { ownSiteForTests, PHONE } from '../support/visit.ts'
import { sendOrder } from '../support/your-enquiry.ts'

const port = String(await freePort())
const { newcomer, visit, site, html } = ownSiteForTests({ PORT: port, PUBLIC_URL: `http://localhost:${port}` })
const PLAIN = { ...PHONE, javaScriptEnabled: false }

/** The link in the acknowledgement to this address. */
async function mailedLink(email: string): Promise<string> {
  let link = ''
  await eventually(() => {
    const mail = site().resend.mails.find(({ to }) => to.includes(email))
    link = /http\S+your-enquiry\?token=\S+/.exec(mail?.text ?? '')?.[0] ?? ''
    return link !== ''
  })
  return link
}

/** The confirmation of an order, and the link on it. */
async function confirmation() {
  const { page } = await visit('/buy-now')
  await fillOrder(page, { email: anAddress() })
  await page.locator('[data-island=order][data-hydrated]').waitFor() // the answer to a form has no link
  await sendButton(page).click()
  await page.getByRole('heading', { name: enquiryReceived.heading }).waitFor()
  return { page, link: await page.getByRole('link', { name: enquiryReceived.page }).getAttribute('href') }
}

const press = async (page: Page, act: keyof typeof actTexts, typed?: string) => {
  await page.locator('summary', { hasText: actTexts[act].title }).click()
  const form = page.locator('details', { hasText: actTexts[act].title })
  if (typed !== undefined) await form.locator('input:not([type=hidden])').fill(typed)
  await form.getByRole('button').click()
}

it('from the mail the number is mended without a script on a phone, and who got it by mistake ends its link', async () => {
  const email = anAddress()
  await sendOrder(site().url, { email })
  const { page, problems } = await newcomer(PLAIN)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.resourceType()))
  const link = await mailedLink(email)
  await page.goto(link)
  expect(await page.locator('main').innerText()).toMatch(/We have it\.[\s\S]*ends in 3210/)
  expect(await page.locator('main').ariaSnapshot()).toMatch(
    /heading "Your enquiry" \[level=1\]\n\s*- status:[\s\S]*rowheader "Your number"[\s\S]*\(done\)[\s\S]*heading "What you can do here" \[level=2\][\s\S]*group: Change the number/,
  )
  await press(page, 'mobile', '12')
  expect(await page.getByRole('alert').innerText()).toBe('Please enter 10 digit Mobile number.')
  const refused = page.locator('[aria-invalid=true]')
  expect([await refused.inputValue(), await refused.getAttribute('aria-describedby')]).toEqual([
    '12',
    'act-mobile-error',
  ])
  expect(await refused.evaluate((field) => field.matches(':focus') && field.getBoundingClientRect().bottom < 740)).toBe(
    true,
  )
  await refused.fill('+91 99711 12345')
  await page.getByRole('button', { name: actTexts.mobile.button }).click()
  await page.getByText('ending in 2345').waitFor()
  expect(await page.locator('main').innerText()).toMatch(/We have your new number\.[\s\S]*ends in 3210; new:\s2345/)
  expect(await page.evaluate('scrollX + document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await press(page, 'quantity', '30')
  await page.getByText(`${actTexts.quantity.done}`).waitFor()
  expect(await page.locator('main').innerText()).toContain('30 packs')
  expect(asked).not.toContain('script')
  await press(page, 'notMine')
  await page.getByRole('heading', { name: yourEnquiryMessages.notMine.title }).waitFor()
  expect((await page.goto(link))?.status()).toBe(404)
  await page.getByRole('heading', { name: yourEnquiryMessages.gone.title }).waitFor()
  expect(problems.filter((problem) => !/40[04]/.test(problem))).toEqual([])
})

it('from the confirmation somebody is out of it, and back, with the link in no storage', async () => {
  const { page, link } = await confirmation()
  const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')
  expect(kept).not.toContain(link?.split('.')[1])
  const fetched: string[] = []
  page.on('request', (request) => fetched.push(request.url()))
  await page.getByRole('link', { name: enquiryReceived.page }).hover()
  await page.waitForTimeout(1000)
  expect(fetched.filter((url) => url.includes('your-enquiry'))).toEqual([]) // by no browser ahead
  const isLeftOut = (path: string) =>
    page.evaluate((to) => new URLPattern('/your-enquiry*', location.href).test(new URL(to, location.href)), path)
  expect(await page.content()).toContain('{"not":{"href_matches":"/your-enquiry*"}}')
  expect([await isLeftOut(link ?? ''), await isLeftOut('/buy-now')]).toEqual([true, false])

  await page.getByRole('link', { name: enquiryReceived.page }).click()
  await press(page, 'withdraw')
  await page.getByText('you no longer need it. We will not call you.').waitFor()
  expect(await page.locator('.steps').count()).toBe(0)
  await page.getByRole('button', { name: actTexts.resume.button }).click()
  await page.getByText('We have it.').waitFor()
  const reference = await page.locator('.reference').innerText()
  await press(page, 'erase', reference.toLowerCase())
  await page.getByText('It will be erased after').waitFor()
  expect(await page.locator('.steps').count()).toBe(0)
  await page.getByRole('button', { name: actTexts.keep.button }).click()
  await page.getByText('We have it.').waitFor()
  expect(await page.locator('.steps li').count()).toBe(3)
  const beside = async () => {
    const [slip, list] = [await page.locator('.slip').boundingBox(), await page.locator('.acts').boundingBox()]
    return (list?.x ?? 0) >= (slip?.x ?? 0) + (slip?.width ?? 0)
  }
  expect(await beside()).toBe(true)
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await beside()).toBe(false)
  const assertWhole = async () => {
    for (const size of ['100%', '200%']) {
      await page.evaluate((to) => document.documentElement.style.setProperty('font-size', to), size)
      expect(await page.evaluate('document.documentElement.scrollWidth'), size).toBe(320)
    }
  }
  await assertWhole()
  expect(await violations(page)).toEqual([])
  expect(await page.evaluate('document.scripts.length')).toBe(0)
  await page.evaluate('for (const act of document.querySelectorAll("details")) act.open = true')
  await putLongBrand(page)
  await assertWhole()
})

it('is in no list of pages, and holds no script', async () => {
  const { link } = await sendOrder(site().url)
  const own = await html(link)
  expect(own).not.toMatch(/<script|modulepreload|speculationrules/)
  expect(own).toContain('content="noindex"')
  expect(await html('/sitemap.xml')).not.toContain('your-enquiry')
})

it('a page that was left open keeps what was typed while the database is away, and says what is no longer possible', async () => {
  const { link, reference } = await sendOrder(site().url, { email: anAddress() })
  const rename = (from: string, to: string) =>
    site().inspect((db) => db.$executeRawUnsafe(`ALTER TABLE "${from}" RENAME TO "${to}"`))
  const { page } = await newcomer()
  await page.goto(`http://localhost:${port}${link}`)
  await rename('Quvera_History', 'Away')
  await press(page, 'mobile', '+91 99711 12345')
  await page.getByText(yourEnquiryMessages.uncertain.text).waitFor()
  await rename('Away', 'Quvera_History')
  await page.getByRole('button', { name: actTexts.mobile.button }).dblclick()
  await page.getByText('ending in 2345').waitFor()
  const proposals = { what: 'Proposal', enquiry: { reference } }
  expect(await site().inspect((db) => db.historyEntry.count({ where: proposals }))).toBe(1)

  await site().inspect((db) => db.enquiry.update({ where: { reference }, data: { receivedAt: hoursAgo(25) } }))
  await press(page, 'email', 'asha@right.example')
  expect(await page.getByRole('alert').innerText()).toContain('This cannot be changed here any more.')
  expect(await violations(page)).toEqual([])
})
