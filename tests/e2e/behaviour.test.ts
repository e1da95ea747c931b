// Header, menus, links, the subscribe box, copying, sharing and printing work in the browser.
import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { CONDITIONS_SHOWN } from '../../client/content/advisory.ts'
import { ownSheet } from '../../client/content/cautions.ts'
import { subscribe } from '../../client/content/contact.ts'
import { buyNow, chosen } from '../../client/content/enquiry-form.ts'
import { ingredientsOf } from '../../client/content/ingredients.ts'
import { content as xt } from '../../client/content/products/xt.ts'
import { brand, palette } from '../../shared/brand.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { eventually } from '../support/eventually.ts'
import { anAddress, fillOrder, sendButton } from '../support/fill-order.ts'
import { freePort } from '../support/server-process.ts'
import { PHONE, siteForTests } from '../support/visit.ts'

const rgb = (hex: string) => `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(', ')})`
const ACCENT = rgb(palette.accent)
/** The ground of the header and the banner of the home page. */
const BANNER = rgb(palette.gold)
const { open, visit, site } = siteForTests({ pictures: false })

const DESKTOP = { viewport: { width: 1440, height: 900 } }

it.each([
  ['a desktop', DESKTOP],
  ['a phone', PHONE],
])('on %s the header changes at 200 px, and leads to the top and to the contact block', async (_, options) => {
  const { page } = await visit('/', { ...options, reducedMotion: 'reduce' })
  const style = () =>
    page.getByRole('banner').evaluate((header) => {
      const { position, backgroundColor, borderBottomColor } = getComputedStyle(header)
      const { top } = header.getBoundingClientRect()
      return { position, backgroundColor, borderBottomColor, top: Math.round((top / innerHeight) * 100) }
    })
  const scrollTo = (top: number) => page.evaluate((y) => window.scrollTo({ top: y, behavior: 'instant' }), top)
  expect(await style()).toMatchObject({ position: 'absolute', backgroundColor: BANNER, top: 3 })
  await scrollTo(199)
  expect(await style()).toMatchObject({ position: 'absolute', backgroundColor: BANNER })
  await scrollTo(200)
  await eventually(async () =>
    expect(await style()).toMatchObject({
      position: 'fixed',
      top: options === PHONE ? 0 : 1, // on phones it is flush with the top
      backgroundColor: 'rgb(255, 255, 255)',
      borderBottomColor: ACCENT,
    }),
  )
  const follow = async (name: string) => {
    if (options === PHONE) await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('banner').getByRole('link', { name, exact: true }).last().click()
  }
  await follow('Contact Us')
  await eventually(async () => {
    const top = await page.locator('#contact').evaluate((block) => block.getBoundingClientRect().top)
    expect(top).toBeGreaterThan(0)
    expect(top).toBeLessThan(500)
  })
  await follow('Home')
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0)
})

it('links lead to the form with what they name chosen', async () => {
  const { page } = await visit(productPath(products[1]))
  await page.getByRole('main').getByRole('link', { name: buyNow.title }).first().click()
  await page.waitForURL(/\/buy-now\?product=/)
  await expect.poll(() => page.locator('[name=products]').inputValue()).toBe(products[1])
  await expect.poll(() => page.locator('.slip tr').first().innerText()).toMatch(products[1])
  expect(await page.evaluate(() => scrollY)).toBe(0)
  await page.goto(site().url)
  await page.getByRole('main').getByRole('link', { name: 'For your shop' }).click()
  await page.waitForURL(/\/buy-now\?for=retailer/)
  await expect.poll(() => page.locator('[name=retailerSelfUse]').inputValue()).toBe('Retailer')
  await page.locator('#order [name=name]').focus()
  await page.locator('[data-island=order][data-hydrated]').waitFor()
  expect(await page.locator('[data-chosen]').innerText()).toBe(`Retailer${chosen}`)
})

it('the wheel over a focused quantity scrolls the page and changes nothing', async () => {
  const { page } = await visit('/buy-now', { reducedMotion: 'reduce' })
  const quantity = page.locator('#order [name=quantity]')
  await quantity.fill('24')
  await quantity.hover()
  const before = await page.evaluate(() => scrollY)
  await page.mouse.wheel(0, 120)
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(before)
  expect(await quantity.inputValue()).toBe('24')
  await expect.poll(() => quantity.evaluate((field) => field === document.activeElement)).toBe(true)
  await quantity.press('ArrowUp')
  expect(await quantity.inputValue()).toBe('25')
})

it('what is touched before the page has wholly arrived works at once', async () => {
  const { page, problems } = await open('/privacy-policy')
  const rest = Promise.withResolvers<void>()
  const port = await freePort()
  const slow = createServer(async (request, response) => {
    const answer = await fetch(site().url + request.url)
    const body = Buffer.from(await answer.arrayBuffer())
    const isDocument = request.url === productPath(products[1])
    const cut = isDocument ? body.indexOf('<footer') : 0
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.write(body.subarray(0, cut))
    if (isDocument) await rest.promise
    response.end(body.subarray(cut))
  }).listen(port, '127.0.0.1')
  await page.goto(`http://localhost:${port}${productPath(products[1])}`, { waitUntil: 'commit' })
  const indication = page.getByRole('button', { name: xt.indications.cards.ophthalmology?.title ?? '', exact: true })
  await eventually(async () => {
    await indication.click() // the script may not have arrived yet
    expect(await indication.getAttribute('aria-expanded')).toBe('true')
  })
  expect(await page.evaluate(() => document.readyState)).toBe('loading')
  rest.resolve()
  await page.locator('html[data-ready]').waitFor()
  expect(await indication.getAttribute('aria-expanded')).toBe('true')
  expect(await page.getByRole('contentinfo').count()).toBe(1)
  expect(problems).toEqual([])
  slow.close()
})

it.runIf(brand.newsletter)(
  'the subscribe box marks a bad address and says so above the keyboard, says when there is no network, and stores a good one',
  async () => {
    const { page } = await visit('/privacy-policy', { viewport: { width: 360, height: 360 }, reducedMotion: 'reduce' })
    const box = page.locator('#subscribe')
    const field = box.getByLabel('Email address')
    const button = box.getByRole('button', { name: 'Subscribe' })
    await field.fill('nobody')
    await page.locator('[data-island=subscribe][data-hydrated]').waitFor()
    const borderColor = () => field.evaluate((input) => getComputedStyle(input).borderTopColor)
    const before = await borderColor()
    await field.press('Enter')
    const answer = box.getByText(messages.email)
    await answer.waitFor()
    await eventually(async () => {
      const { y = 999, height = 0 } = (await answer.boundingBox()) ?? {}
      expect(y).toBeGreaterThan(0)
      expect(y + height).toBeLessThanOrEqual(360)
    })
    await expect.poll(borderColor).not.toBe(before)
    const email = anAddress()
    await field.fill(email)
    await page.context().setOffline(true)
    await button.click()
    await box.getByText(subscribe.offline).waitFor()
    expect(await field.inputValue()).toBe(email)
    await page.context().setOffline(false)
    await button.click()
    await box.getByText(subscribe.done).waitFor()
    expect(await field.inputValue()).toBe('')
    expect(await site().inspect((db) => db.subscriber.count({ where: { email } }))).toBe(1)
  },
)

it('a page is fetched when somebody points at its link, and opens without being asked for again', async () => {
  const { page, problems } = await visit('/')
  const session = await page.context().newCDPSession(page)
  const isFetched = new Promise<void>((resolve) => {
    session.on('Preload.prefetchStatusUpdated', ({ status }) => status === 'Ready' && resolve())
  })
  await session.send('Preload.enable')
  const link = page.getByRole('contentinfo').getByRole('link', { name: 'Privacy Policy' })
  await link.hover()
  await isFetched
  await link.click()
  await page.waitForURL('**/privacy-policy')
  const how = await page.evaluate(() =>
    performance.getEntriesByType('navigation').map((entry) => Object(entry).deliveryType),
  )
  expect(how).toEqual(['navigational-prefetch'])
  expect(problems).toEqual([])
})

it('a printed product page keeps the composition, the safety and the contact, on two pages of A4 and of Letter', async () => {
  const { page } = await visit(productPath(products[1]))
  for (const format of ['A4', 'Letter']) {
    const pdf = await page.pdf({ format })
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g), format).toHaveLength(2)
  }
  await page.emulateMedia({ media: 'print' })
  for (const kept of ['27.45 mg', 'Renal health', brand.phone, ...(CONDITIONS_SHOWN ? ['Hypertension'] : [])])
    expect(await page.getByText(kept).filter({ visible: true }).count(), kept).toBeGreaterThan(0)
  expect(await page.getByRole('banner').isVisible()).toBe(false)
})

it('on a phone “Send it” shares the physician’s sheet, sends it by WhatsApp, copies or prints it, whichever works', async () => {
  const path = productPath(products[0])
  const { page } = await visit(path, { ...PHONE, hasTouch: true, isMobile: true })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const link = page.getByRole('link', { name: ownSheet.send }).first()
  const shared =
    /^.* 300\. Active ingredients, as on the label:\nCoenzyme Q10 300 mg\n[\s\S]*warfarin[\s\S]*not for medicinal use/
  const told = () => page.evaluate(() => Object(window).told)
  await page.evaluate(() => {
    const tell = (told: unknown) => Object.assign(window, { told })
    Object.defineProperty(navigator, 'share', { value: async (data: ShareData) => tell(data), configurable: true })
    window.open = (address) => tell(String(address))
    window.print = () => tell('printed')
  })
  await link.tap()
  await expect.poll(told).toEqual({ text: expect.stringMatching(shared), url: site().url + path })

  await page.evaluate(() => Object.defineProperty(navigator, 'share', { value: undefined }))
  await link.tap()
  await expect.poll(told).toMatch(/^https:\/\/wa\.me\//)
  const message = new URL(await told()).searchParams.get('text')
  expect(message).toMatch(shared)
  expect(message?.endsWith(`\n${site().url}${path}`)).toBe(true)

  await page.evaluate(() => (window.open = () => null))
  await link.tap()
  await page.getByText('Copied').first().waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(message)

  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined })) // as without TLS
  await link.tap()
  await expect.poll(told).toBe('printed')
})

it.each(products)('the sheet of %s is printed on one page of A4 and of Letter, also from a tablet', async (product) => {
  const { page } = await visit(productPath(product), { viewport: { width: 820, height: 1180 }, hasTouch: true })
  await page.evaluate(() => Object.assign(window, { print: () => document.body.toggleAttribute('data-printed', true) }))
  for (const chip of await page.locator('[data-chip]').all()) await chip.tap() // the longest sheet
  const print = async () => {
    await page.getByRole('link', { name: ownSheet.print }).first().tap()
    await page.locator('html[data-sheet] body[data-printed]').waitFor()
  }
  for (const format of ['A4', 'Letter']) {
    await print() // the sheet ends with its printing
    const pdf = await page.pdf({ format })
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g), format).toHaveLength(1)
  }
  await print()
  await page.emulateMedia({ media: 'print' })
  const said = await page.evaluate(() => {
    const texts: { text: string; points: number }[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const { parentElement: parent, textContent: text } = walker.currentNode
      const isShown = parent?.checkVisibility() && !parent.closest('.visually-hidden')
      if (parent && isShown && text?.trim())
        texts.push({ text: text.trim(), points: Number.parseFloat(getComputedStyle(parent).fontSize) * 0.75 })
    }
    return texts
  })
  expect(said.filter(({ points }) => points < 9.49)).toEqual([])
  const all = said.map(({ text }) => text).join(' ')
  expect(all).toMatch(new RegExp(`^${product} ${ownSheet.lines.medicines} Blood thinner, Warfarin`))
  for (const { caution } of Object.values(ingredientsOf(product))) if (caution) expect(all).toContain(caution)
})

it('without scripts the link of the sheet leads to the label, and there are no chips', async () => {
  const { page } = await visit(productPath(products[0]), { javaScriptEnabled: false })
  expect(await page.locator('[data-chip]').first().isVisible()).toBe(false)
  expect(await page.getByRole('link', { name: ownSheet.send }).count()).toBe(0)
  await page.getByRole('link', { name: ownSheet.print }).first().click()
  expect(new URL(page.url()).hash).toBe('#composition')
})

it('a chip marks what names it, begins the line of the medicines, and sends and keeps nothing', async () => {
  const { page } = await visit(productPath(products[1]))
  await page.evaluate(() => Object.assign(window, { print: () => undefined }))
  const sent: string[] = []
  page.on('request', (request) => request.isNavigationRequest() || sent.push(request.url()))
  const chip = page.getByRole('button', { name: 'Wheat allergy' })
  await chip.click()
  const status = page.locator('.own-sheet [role=status]')
  expect(await status.innerText()).toBe('Marked: Wheat Germ Oil, Please read before use, Allergies.')
  expect(await page.locator('#label-wheatGerm + .about').getByText('wheat allergy').isVisible()).toBe(true)
  expect(await page.locator('#label-wheatGerm summary').isVisible()).toBe(false) // it would close nothing
  await page.getByRole('button', { name: 'Another medicine' }).click()
  expect(await page.locator('[data-begins=true]').textContent()).toBe('Another medicine')
  expect(await page.locator('[data-begins=false]').textContent()).toBe('Wheat allergy')
  for (const name of ['Wheat allergy', 'Another medicine']) await page.getByRole('button', { name }).click()
  expect(await status.innerText()).toBe('')
  expect(await page.locator('[data-marked]').count()).toBe(0)
  expect(sent.filter((url) => !/\.(avif|webp|js)$/.test(url))).toEqual([])
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).toBe('{}')
})

it('a row of the label and its slide lead to each other, by the controls of either screen', async () => {
  const ofSelenium = xt.mechanism.slides.find(({ cards }) => cards.some(({ key }) => key === 'selenium'))?.title ?? ''
  for (const options of [DESKTOP, PHONE]) {
    const { page } = await visit(`${productPath(products[1])}#label-selenium`, { ...options, reducedMotion: 'reduce' })
    const row = page.locator('#label-selenium + .about')
    await row.getByText('do not add other selenium').or(row.getByText('Do not add other selenium')).waitFor()
    if (options === DESKTOP) {
      await page.locator('#mechanism').scrollIntoViewIfNeeded()
      await page.locator('.carousel').waitFor()
    }
    await row.getByRole('link', { name: ofSelenium }).click()
    const slide = page.locator(options === DESKTOP ? '.slick-active .slide' : '.slide[data-active=true]')
    await expect.poll(() => slide.getAttribute('aria-label')).toBe(ofSelenium)
    await slide.getByRole('link', { name: /75 mcg on the label/ }).click()
    expect(new URL(page.url()).hash).toBe('#label-selenium')
  }
})

it('the copyright names the year in which the page is read, not the one in which it was built', async () => {
  const { page } = await open('/privacy-policy')
  await page.clock.setFixedTime(new Date('2031-02-01T12:00:00Z'))
  await page.reload()
  await page.locator('footer', { hasText: '© 2031' }).waitFor()
})

it('the reference of an order is selected where the clipboard is refused, there after a reload, and copied by a button', async () => {
  const { page } = await visit('/buy-now')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await fillOrder(page, { email: anAddress() })
  await page.locator('[data-island=order][data-hydrated]').waitFor()
  await sendButton(page).click()
  const reference = await page.locator('.reference').innerText()
  const copy = page.locator('.copy-button')
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined })) // as without TLS
  await copy.click()
  await expect.poll(() => page.evaluate(() => String(getSelection()))).toBe(reference)
  expect(await copy.innerText()).toBe('Copy')
  await page.reload({ waitUntil: 'networkidle' }) // a form that was sent loads its scripts at once, and they draw the link anew
  await page.getByRole('link', { name: reference }).click()
  await page.waitForURL(/received/)
  await page.locator('html[data-ready]').waitFor()
  await copy.click()
  await expect.poll(() => copy.innerText()).toBe('Copied')
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(reference)
})
