// Menus, forms, copying, sharing and printing work in the browser, and no order sent before the scripts arrive is lost.
import { createServer } from 'node:http'
import type { Page } from '@playwright/test'
import { describe, expect, it } from 'vitest'
import { subscribe } from '../../client/content/contact.ts'
import { chosen } from '../../client/content/enquiry-form.ts'
import { brand, palette } from '../../shared/brand.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { RECEIVED_PATH } from '../../shared/form-outcome.ts'
import { fieldLimits, messages } from '../../shared/order.ts'
import { installedChromium, launchBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { anAddress, fillOrder, sendButton } from '../support/fill-order.ts'
import { freePort } from '../support/server-process.ts'
import { isRelease, itBeforeRelease, PHONE, siteForTests } from '../support/visit.ts'

const rgb = (hex: string) => `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(', ')})`
const ACCENT = rgb(palette.accent)
/** The ground of the header and the banner of the home page. */
const BANNER = rgb(palette.gold)
const { open, visit, site, storedFrom } = siteForTests({ pictures: false })

const DESKTOP = { viewport: { width: 1440, height: 900 } }

describe.each([
  ['a desktop', DESKTOP],
  ['a phone', PHONE],
])('on %s', (_, options) => {
  const sameOnBoth = it.skipIf(options === PHONE && !isRelease) // it is the same there
  it('the header has two styles, and changes at 200 px', async () => {
    const { page, close } = await visit('/', { ...options, reducedMotion: 'reduce' })
    const style = () =>
      page.getByRole('banner').evaluate((header) => {
        const { position, backgroundColor, borderBottomColor } = getComputedStyle(header)
        const { top, bottom } = header.getBoundingClientRect()
        return { position, backgroundColor, borderBottomColor, top: Math.round((top / innerHeight) * 100), bottom }
      })
    const scrollTo = (top: number) => page.evaluate((y) => window.scrollTo({ top: y, behavior: 'instant' }), top)
    expect(await style()).toMatchObject({ position: 'absolute', backgroundColor: BANNER, top: 3 })
    await scrollTo(199) // it scrolls with the page: nothing shows through it
    expect(await style()).toMatchObject({ position: 'absolute', backgroundColor: BANNER })
    expect((await style()).bottom).toBeLessThanOrEqual(0)
    await scrollTo(200)
    await eventually(async () =>
      expect(await style()).toMatchObject({
        position: 'fixed',
        top: options === PHONE ? 0 : 1, // on phones it is flush with the top
        backgroundColor: 'rgb(255, 255, 255)',
        borderBottomColor: ACCENT,
      }),
    )
    await close()
  })

  it.skipIf(options === PHONE && !isRelease).each([true, false])(
    'the wheel over a focused quantity scrolls the page and changes nothing (hydrated: %s)',
    async (isHydrated) => {
      const { page, close } = await visit('/buy-now', { ...options, reducedMotion: 'reduce' })
      if (!isHydrated) await page.route('**/assets/hydrate-*', () => {}) // does not arrive
      await fillOrder(page, { quantity: '24' })
      const quantity = page.locator('#order [name=quantity]')
      await quantity.focus()
      if (isHydrated) await page.locator('[data-island=order][data-hydrated]').waitFor()
      const before = await page.evaluate(() => scrollY)
      await quantity.hover()
      await page.mouse.wheel(0, 120)
      await eventually(async () => expect(await page.evaluate(() => scrollY)).toBeGreaterThan(before))
      expect(await quantity.inputValue()).toBe('24')
      await eventually(() => quantity.evaluate((field) => field === document.activeElement))
      await quantity.press('ArrowUp')
      expect(await quantity.inputValue()).toBe('25')
      await close()
    },
  )

  it('Home scrolls to the top, Contact Us to the contact block', async () => {
    const { page, close } = await visit('/', options)
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
    await eventually(async () => expect(await page.evaluate(() => scrollY)).toBe(0))
    await close()
  })

  sameOnBoth('Buy Now on a product page leads to the form with that product chosen', async () => {
    const { page, close } = await visit(productPath(products[1]), options)
    await page.getByRole('main').getByRole('link', { name: 'Buy Now' }).first().click()
    await page.waitForURL(/\/buy-now/)
    await eventually(async () => expect(await page.locator('[name=products]').inputValue()).toBe(products[1]))
    expect(await page.evaluate(() => scrollY)).toBe(0)
    await close()
  })

  sameOnBoth('the home page leads a retailer to the form with that chosen', async () => {
    const { page, problems, close } = await visit('/', options)
    await page.getByRole('main').getByRole('link', { name: 'For your shop' }).click()
    await page.waitForURL(/\/buy-now\?for=retailer/)
    await eventually(async () => expect(await page.locator('[name=retailerSelfUse]').inputValue()).toBe('Retailer'))
    await page.locator('#order [name=name]').focus()
    await page.locator('[data-island=order][data-hydrated]').waitFor()
    expect(await page.locator('.chosen').innerText()).toBe(`Retailer${chosen}`)
    expect(problems).toEqual([])
    await page.goto(`${site().url}/buy-now?for=self-use`)
    await eventually(async () => expect(await page.locator('[name=retailerSelfUse]').inputValue()).toBe('Self Use'))
    await close()
  })

  sameOnBoth('what is typed and sent before React arrives is posted by the browser, and is one order', async () => {
    const { page, problems, close } = await open('/privacy-policy', options)
    await page.route('**/hydrate-*.js', () => {}) // does not arrive
    const email = anAddress()
    await page.goto(`${site().url}/buy-now`)
    await fillOrder(page, { email })
    await sendButton(page).click({ clickCount: 3, noWaitAfter: true })
    await page.locator('.reference').waitFor() // waitForURL would fail with the first navigation, which the second press aborts
    expect(new URL(page.url()).pathname).toBe(RECEIVED_PATH)
    const rows = await storedFrom(email)
    expect(rows.map(({ reference }) => reference)).toEqual([await page.locator('.reference').textContent()])
    // A second press starts the navigation anew, and with it the transition between the pages.
    expect(problems.filter((problem) => !problem.startsWith('Transition was aborted'))).toEqual([])
    await close()
  })
})

it('menus open before the script arrives', async () => {
  for (const options of [DESKTOP, PHONE]) {
    const { page, problems, close } = await open('/privacy-policy', options)
    await page.route('**/assets/*.js', () => {}) // does not arrive
    await page.goto(`${site().url}${productPath(products[1])}`, { waitUntil: 'commit' })
    const menu = page.getByRole('button', { name: options === PHONE ? 'Menu' : 'Products' })
    await menu.click()
    expect(await page.getByRole('banner').getByRole('link', { name: products[0] }).isVisible()).toBe(true)
    expect(problems).toEqual([])
    await close()
  }
})

itBeforeRelease('where browsers know no `command`, the script opens the menu', async () => {
  const { page, close } = await open('/privacy-policy', PHONE)
  await page.addInitScript(() => {
    const { prototype } = HTMLButtonElement
    for (const name of ['command', 'commandForElement']) Reflect.deleteProperty(prototype, name)
  })
  await page.goto(`${site().url}/buy-now`)
  await page.locator('html[data-ready]').waitFor()
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('dialog').waitFor()
  await close()
})

it('what is touched before the page has wholly arrived works at once', async () => {
  const { page, problems, close } = await open('/privacy-policy')
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
  const indication = page.getByRole('button', { name: 'Ophthalmology', exact: true })
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
  await close()
  slow.close()
})

it('a marked field stays marked under the pointer', async () => {
  const { page, close } = await visit('/buy-now', DESKTOP)
  await sendButton(page).click()
  await page.locator('[aria-invalid=true]').first().waitFor()
  const borders = () =>
    page
      .locator('[aria-invalid=true]')
      .evaluateAll((fields) => fields.map((field) => getComputedStyle(field).borderTopColor))
  await page.mouse.move(0, 0)
  const untouched = await borders()
  expect(untouched).toHaveLength(Object.values(fieldLimits).filter(({ optional }) => !optional).length)
  expect(new Set(untouched).size).toBe(1)
  for (const field of await page.locator('[aria-invalid=true]').all()) {
    await field.hover()
    expect(await borders()).toEqual(untouched)
  }
  await close()
})

it('an address that is corrected while the first one is being sent is sent too', async () => {
  const { page, close } = await visit('/privacy-policy')
  const box = page.locator('#subscribe')
  const [isAsked, isCorrected] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const sent: string[] = []
  await page.route('**/trpc/*subscri*', async (route) => {
    sent.push(route.request().postData() ?? '')
    isAsked.resolve()
    await isCorrected.promise
    await route.continue()
  })
  await box.getByLabel('Email address').fill('asha@shop.exampl')
  await page.locator('[data-island=subscribe][data-hydrated]').waitFor()
  await box.getByRole('button').click()
  await isAsked.promise
  await box.getByLabel('Email address').fill('asha@shop.example')
  isCorrected.resolve()
  await box.getByText(subscribe.done).waitFor()
  await box.getByRole('button', { name: 'Subscribe' }).click()
  await eventually(() => expect(sent).toEqual([expect.any(String), expect.stringContaining('asha@shop.example"')]))
  await close()
})

it.each(['stalls', 'is gone, as after an update'])(
  'a subscription whose code %s is posted by the browser',
  async (what) => {
    const { page, close } = await visit('/privacy-policy')
    await page.route('**/assets/trpc-*.js', (route) => (what === 'stalls' ? undefined : route.fulfill({ status: 404 })))
    const email = anAddress()
    const box = page.locator('#subscribe')
    await box.getByLabel('Email address').fill(email)
    await box.getByRole('button').click({ noWaitAfter: true })
    await page.waitForURL('**/subscribed#main')
    expect(await site().inspect((db) => db.subscriber.count({ where: { email } }))).toBe(1)
    await close()
  },
)

it('a subscription without a network says so, keeps the address, and can be sent again', async () => {
  const { page, close } = await visit('/privacy-policy')
  const box = page.locator('#subscribe')
  const email = anAddress()
  await box.getByLabel('Email address').fill(email)
  await page.locator('[data-island=subscribe][data-hydrated]').waitFor()
  await page.context().setOffline(true)
  await box.getByRole('button').click()
  await box.getByText(subscribe.offline).waitFor()
  expect(await box.getByRole('button').textContent()).toBe('Subscribe')
  expect(await box.getByLabel('Email address').inputValue()).toBe(email)
  await page.context().setOffline(false)
  await box.getByRole('button').click()
  await box
    .getByText(subscribe.done)
    .or(page.getByRole('heading', { name: 'Almost subscribed' }))
    .first()
    .waitFor()
  await close()
})

it('the subscribe box stores the address and says so; a bad one it refuses', async () => {
  const { page, close } = await visit('/')
  const box = page.getByRole('contentinfo')
  await box.getByLabel('Email address').fill('nobody')
  await page.locator('[data-island=subscribe][data-hydrated]').waitFor()
  await box.getByRole('button', { name: 'Subscribe' }).click()
  await box.getByText(messages.email).waitFor()
  const email = anAddress()
  await box.getByLabel('Email address').fill(email)
  await box.getByRole('button', { name: 'Subscribe' }).click()
  await box.getByText(subscribe.done).waitFor()
  expect(await box.getByLabel('Email address').inputValue()).toBe('')
  expect(await site().inspect((db) => db.subscriber.count({ where: { email } }))).toBe(1)
  const changesWhenPressedTwice = await page.locator('#subscribe').evaluate(async (form) => {
    let changes = 0
    const all = { attributes: true, characterData: true, childList: true, subtree: true }
    new MutationObserver((records) => (changes += records.length)).observe(form, all)
    form.querySelector('button')?.click()
    for (const _ of [1, 2]) await new Promise(requestAnimationFrame)
    return changes
  })
  expect(changesWhenPressedTwice).toBe(0)
  await close()
})

it('a page is fetched when somebody points at its link, and opens without being asked for again', async () => {
  const { page, problems, close } = await visit('/')
  await page.getByRole('contentinfo').getByRole('link', { name: 'Privacy Policy' }).hover()
  await page.waitForTimeout(600)
  await page.getByRole('contentinfo').getByRole('link', { name: 'Privacy Policy' }).click()
  await page.waitForURL('**/privacy-policy')
  const how = await page.evaluate(() =>
    performance.getEntriesByType('navigation').map((entry) => Object(entry).deliveryType),
  )
  expect(how).toEqual(['navigational-prefetch'])
  expect(problems).toEqual([])
  await close()
})

it.runIf(isRelease && installedChromium)(
  'a page left and come back to is as it was, without being loaded again',
  async () => {
    const options = { executablePath: installedChromium, ignoreDefaultArgs: ['--disable-back-forward-cache'] }
    const browser = await launchBrowser(options)
    const page = await browser.newPage(PHONE)
    await page.goto(`${site().url}${productPath(products[0])}`)
    await page.locator('html[data-ready]').waitFor()
    await page.getByRole('button', { name: 'Lycopene', exact: true }).click()
    await page.getByRole('main').getByRole('link', { name: 'Buy Now' }).first().click()
    await page.waitForURL(/\/buy-now/)
    await page.goBack({ waitUntil: 'commit' })
    await eventually(async () =>
      expect(await page.getByRole('button', { name: 'Lycopene', exact: true }).getAttribute('aria-pressed')).toBe(
        'true',
      ),
    )
    await browser.close()
  },
)

it('a printed product page keeps the composition, the safety and the contact', async () => {
  const { page, close } = await visit(productPath(products[1]))
  await page.emulateMedia({ media: 'print' })
  for (const kept of ['27.45 mg', 'Renal health', brand.phone, 'Hypertension'])
    expect(await page.getByText(kept).filter({ visible: true }).count(), kept).toBeGreaterThan(0)
  expect(await page.getByRole('banner').isVisible()).toBe(false)
  await close()
})

const TOUCH = { ...PHONE, hasTouch: true, isMobile: true }
const sharedText =
  /^Quvera 300\. Active ingredients, as on the label:\nCoenzyme Q10 300 mg\nOmega-3 Fatty Acids 250 mg\nLycopene \(10%\) 5000 mcg\n.*warfarin.*\n.*blood thinner[\s\S]*not for medicinal use/

it('on a phone the physician’s sheet is shared: product, composition and address', async () => {
  const { page, close } = await visit(productPath(products[0]), TOUCH)
  await page.evaluate(() => {
    const share = async (data: ShareData) => Object.assign(window, { shared: data })
    Object.defineProperty(navigator, 'share', { value: share })
  })
  await page.getByRole('link', { name: 'Show it to your physician' }).tap()
  await page.waitForFunction('window.shared')
  const { text, url, ...rest } = await page.evaluate(() => Object(window).shared)
  expect(text).toMatch(sharedText)
  expect(url).toBe(site().url + productPath(products[0]))
  expect(rest).toEqual({})
  await close()
})

it.each([
  ['opens WhatsApp', true],
  ['is copied where no window opens', false],
])('on a phone that cannot share, the sheet %s', async (_, opens) => {
  const { page, close } = await visit(productPath(products[0]), TOUCH)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate((works) => {
    Object.defineProperty(navigator, 'share', { value: undefined })
    window.open = (address) => {
      Object.assign(window, { opened: String(address) })
      return works ? window : null
    }
  }, opens)
  const link = page.locator('.sheet-link')
  await link.tap()
  if (!opens) await link.getByText('Copied').waitFor()
  const message = opens
    ? new URL(await page.evaluate(() => Object(window).opened)).searchParams.get('text')
    : await page.evaluate(() => navigator.clipboard.readText())
  expect(message).toMatch(sharedText)
  expect(message?.endsWith(`\n${site().url}${productPath(products[0])}`)).toBe(true)
  await close()
})

it.each([
  ['has no clipboard', false],
  ['refuses to copy', true],
])('on a phone that can neither share nor open a window and %s, the sheet is printed', async (_, hasClipboard) => {
  const { page, close } = await visit(productPath(products[0]), TOUCH)
  await page.evaluate((has) => {
    const clipboard = has ? { writeText: () => Promise.reject(new Error('not allowed')) } : undefined
    for (const [name, value] of Object.entries({ share: undefined, clipboard }))
      Object.defineProperty(navigator, name, { value })
    Object.assign(window, { open: () => null, print: () => document.body.toggleAttribute('data-printed', true) })
  }, hasClipboard)
  await page.locator('.sheet-link').tap()
  await page.locator('body[data-printed]').waitFor({ timeout: 5000 })
  await close()
})

it('elsewhere the sheet is printed, and without scripts its link leads to the label', async () => {
  const { page, close } = await visit(productPath(products[0]))
  await page.evaluate(() => Object.assign(window, { print: () => document.body.toggleAttribute('data-printed', true) }))
  await page.getByRole('link', { name: 'Show it to your physician' }).click()
  await page.locator('body[data-printed]').waitFor()
  expect(await page.locator('html[data-sheet]').count()).toBe(1)
  await close()
  const plain = await visit(productPath(products[0]), { javaScriptEnabled: false })
  await plain.page.getByRole('link', { name: 'Show it to your physician' }).click()
  expect(new URL(plain.page.url()).hash).toBe('#composition')
  await plain.close()
})

it('the copyright names the year in which the page is read, not the one in which it was built', async () => {
  const { page, problems, close } = await open('/privacy-policy')
  await page.clock.setFixedTime(new Date('2031-02-01T12:00:00Z'))
  await page.reload()
  await page.locator('footer', { hasText: '© 2031' }).waitFor()
  expect(problems).toEqual([])
  await close()
})

const waysToCopy: [string, boolean, (page: Page) => Promise<unknown>][] = [
  ['is copied by a button', true, async () => undefined],
]
const rareWaysToCopy: typeof waysToCopy = [
  ['is selected where the clipboard is refused', true, (page) => page.evaluate(refuseClipboard)],
  ['that came without scripts is copied too', false, async () => undefined],
]

it.each(isRelease ? [...waysToCopy, ...rareWaysToCopy] : waysToCopy)(
  'the reference of an order %s',
  async (name, scripts, prepare) => {
    const { page, close } = await visit('/buy-now')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await fillOrder(page, { email: anAddress() })
    if (scripts) await sendButton(page).click()
    else await page.locator('#order').evaluate((form) => (form as HTMLFormElement).submit())
    await page.locator('.reference').waitFor()
    await page.locator('html[data-ready]').waitFor()
    await prepare(page)
    const copy = page.locator('.copy-button')
    await copy.click()
    const reference = await page.locator('.reference').innerText()
    if (name.includes('refused')) {
      await eventually(async () => expect(await page.evaluate(() => String(getSelection()))).toBe(reference))
      expect(await copy.innerText()).toBe('Copy')
    } else {
      await eventually(async () => expect(await copy.innerText()).toBe('Copied'))
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(reference)
    }
    await close()
  },
)

/** As on a page without TLS. */
function refuseClipboard() {
  Object.defineProperty(navigator, 'clipboard', { value: undefined })
}
