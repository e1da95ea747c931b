// Axe finds no WCAG 2.2 AA fault on any page, zoomed text is not cut, every control is reached by mouse and thumb, and an
// order can be sent with the keyboard alone.
import type { Locator, Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { brand } from '../../shared/brand.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { messages, type OrderField } from '../../shared/order.ts'
import { violations } from '../support/axe.ts'
import { findBrokenWords } from '../support/broken-words.ts'
import { anAddress, fillOrder, sendButton, toastOf, typedOrder } from '../support/fill-order.ts'
import { putLongBrand } from '../support/long-brand.ts'
import { current, faultsOf } from '../support/valid-html.ts'
import { PHONE, paths, siteForTests } from '../support/visit.ts'

const { visit, site } = siteForTests()
const CALM = { reducedMotion: 'reduce' } as const
const WIDTHS = [360, 768, 1024, 1440]
/** Where axe searches a page: these look different on a wide screen. */
const searchedAt = (path: string) => (path === '/' || path.startsWith('/products') ? [360, 1440] : [360])
/** A phone, and a screen of 1,280 px at 200 % and 400 %. */
const ZOOMED = [
  { width: 320, height: 640 },
  { width: 640, height: 400 },
  { width: 320, height: 256 },
]

/** Texts that reach beyond the screen, or beyond what hides its overflow; not those in a row that can be scrolled. */
function cutTexts(page: Page) {
  return page.evaluate(() => {
    const cut = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const { parentElement: parent, textContent: text } = walker.currentNode
      if (!parent?.checkVisibility({ visibilityProperty: true }) || !text?.trim()) continue
      if (parent.closest('.visually-hidden, .skip-link, .segments, .contents, .gallery, .slide-head, [hidden]'))
        continue
      if (parent.closest('.slides, .slick-slide:not(.slick-active)')) continue
      const range = document.createRange()
      range.selectNodeContents(walker.currentNode)
      const { left, right, top, bottom } = range.getBoundingClientRect()
      let inside = left >= -1 && right <= innerWidth + 1
      for (let box: Element | null = parent; box && inside; box = box.parentElement) {
        if (getComputedStyle(box).overflowY !== 'hidden') continue
        const frame = box.getBoundingClientRect()
        inside =
          left >= frame.left - 1 && right <= frame.right + 1 && top >= frame.top - 2 && bottom <= frame.bottom + 2
      }
      if (!inside) cut.push(`${parent.className}: ${text.slice(0, 40)}`)
    }
    return cut
  })
}

/** What a reader may set (WCAG 1.4.12), and text that is twice as large while the screen stays as it is. */
const SPACING =
  '* { letter-spacing: .12em !important; word-spacing: .16em !important; line-height: 1.5 !important } p { margin-bottom: 2em !important }'
const READERS_STYLES: [name: string, width: number, css: string][] = [
  ...[320, 768, 1024, 1440].map((width): [string, number, string] => [`text spacing at ${width} px`, width, SPACING]),
  ...[360, 900, 1440].map((width): [string, number, string] => [
    `text of 200 % at ${width} px`,
    width,
    'html { font-size: 200% !important }',
  ]),
]

/** Another brand has longer words in the same places. */
const LONG_AT = [
  [320, '100%'],
  [320, '200%'],
  [600, '100%'],
  [900, '100%'],
] as const

/** Sets the size of texts. */
function enlarge(page: Page, size: string) {
  return page.evaluate((to) => {
    document.adoptedStyleSheets = []
    document.documentElement.style.setProperty('font-size', to)
    return new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))
  }, size)
}

const brokenWords = (page: Page, selector: string, words = /\S+/g) =>
  page.locator(selector).evaluateAll(findBrokenWords, words)

/** Rows of tables, and of the figures below a product's name, in which one text lies on another. */
function overlaps(page: Page) {
  return page.locator(':is(.comparison, .panel) tr, .figures ul').evaluateAll((rows) => {
    const boxOf = (cell: Element) => {
      const text = document.createRange()
      text.selectNodeContents(cell)
      return text.getBoundingClientRect()
    }
    const meet = (one: DOMRect, other: DOMRect) =>
      one.right > other.left + 1 &&
      other.right > one.left + 1 &&
      one.bottom > other.top + 1 &&
      other.bottom > one.top + 1
    const isCrowded = (row: Element) => {
      const boxes = [...row.querySelectorAll('th, .amount')].map(boxOf)
      return boxes.some((box, index) => boxes.slice(index + 1).some((other) => meet(box, other)))
    }
    return rows.filter(isCrowded).map(({ textContent }) => textContent)
  })
}

/** Links, buttons and fields that are not reached at their middle, or are lower than that many pixels. */
async function unreachable(page: Page, least: number) {
  await page.evaluate(() => scrollTo(0, 0))
  await page.locator('html:not([data-scrolled])').waitFor() // the header is where it begins
  return page.evaluate((px) => {
    const found: string[] = []
    for (const target of document.querySelectorAll<HTMLElement>('a, button, summary, input, select')) {
      if (!target.checkVisibility({ visibilityProperty: true })) continue
      if (target.closest('[inert], .visually-hidden, .skip-link')) continue
      target.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
      const { left, top, width, height } = target.getClientRects()[0] as DOMRect
      const hit = document.elementFromPoint(left + width / 2, top + height / 2)
      if (!target.contains(hit)) found.push(`${target.outerHTML.slice(0, 80)} under ${hit?.className}`)
      if (target.matches('a, button, summary') && height < px - 0.5) found.push(`${target.textContent}: ${height} px`)
    }
    return found
  }, least)
}

/** The pixels at the right of each title of an indication: its plus sign, and the space beside it. */
function roomsForPlusSigns(page: Page) {
  return page.locator('.indication[data-open=false] button').evaluateAll((buttons) =>
    buttons.map((button) => {
      const text = document.createRange()
      text.selectNodeContents(button)
      const card = button.closest('.indication')?.getBoundingClientRect()
      return (card?.right ?? 0) - text.getBoundingClientRect().right
    }),
  )
}

/** Until the mechanism of a product page has the controls of this width, and its slides are at rest. */
async function untilSlidesMove(page: Page, width: number) {
  await page.locator('#mechanism').scrollIntoViewIfNeeded()
  await page.locator(width >= 900 ? '.carousel' : '.segments').waitFor()
  if (width < 900) return
  let before = Number.NaN
  await expect
    .poll(async () => {
      const now = await page.locator('.slick-track').evaluate((track) => track.getBoundingClientRect().x)
      const isAtRest = now === before
      before = now
      return isAtRest
    })
    .toBe(true)
}

const sideways = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
const sidewaysSections = (page: Page) =>
  page.locator('.contents nav').evaluateAll((lists) => lists.map((list) => list.scrollWidth - list.clientWidth))

it.each([...paths, '/nowhere'])(
  '%s has no fault that axe finds, is reached by a mouse, cuts no text and has a clean console',
  async (path) => {
    const { page, problems } = await visit(path, { ...CALM, ...PHONE })
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      if (path.startsWith('/products')) await untilSlidesMove(page, width)
      if (searchedAt(path).includes(width)) expect(await violations(page), `at ${width} px`).toEqual([])
      expect(await sideways(page), `at ${width} px`).toBe(0)
      if (width === 768) expect(await sidewaysSections(page)).toEqual(path.startsWith('/products') ? [0] : [])
      if (width >= 1024) expect(await unreachable(page, 24), `at ${width} px`).toEqual([])
    }
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    for (const zoomed of ZOOMED) {
      await page.setViewportSize(zoomed)
      await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))))
      expect(await sideways(page), `at ${zoomed.width} px`).toBe(0)
      expect(await cutTexts(page), `at ${zoomed.width} px`).toEqual([])
    }
    for (const [name, width, css] of READERS_STYLES) {
      await page.setViewportSize({ width, height: 740 })
      await page.evaluate((text) => {
        const sheet = new CSSStyleSheet()
        sheet.replaceSync(text)
        document.adoptedStyleSheets = [sheet]
        return new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))
      }, css)
      expect(await sideways(page), name).toBe(0)
      expect(await cutTexts(page), name).toEqual([])
      expect(await overlaps(page), name).toEqual([])
      if (width === 320) expect(Math.min(...(await roomsForPlusSigns(page))), name).toBeGreaterThanOrEqual(44)
    }
    await putLongBrand(page)
    for (const [width, size] of LONG_AT) {
      await page.setViewportSize({ width, height: 740 })
      await enlarge(page, size)
      const where = `a long brand at ${width} px and ${size}`
      expect(await sideways(page), where).toBe(0)
      expect(await cutTexts(page), where).toEqual([])
      expect(await brokenWords(page, '[data-long]'), where).toEqual([])
    }
    expect(problems.filter((problem) => path !== '/nowhere' || !problem.includes('404'))).toEqual([])
  },
)

it('under a thumb every link, button and field is reached at its middle, and none is lower than 44 px', async () => {
  const { page } = await visit('/', { ...CALM, viewport: { width: 390, height: 900 }, hasTouch: true, isMobile: true })
  for (const path of paths) {
    await page.goto(site().url + path)
    await page.locator('html[data-ready]').waitFor()
    if (path.startsWith('/products')) await untilSlidesMove(page, 390)
    expect(await unreachable(page, 44), path).toEqual([])
  }
})

it('on a narrow phone the header holds a whole Buy Now, and with large text the whole name and the menu in one line', async () => {
  const { page } = await visit('/buy-now', { ...CALM, viewport: { width: 320, height: 640 } })
  const height = async (part: Locator) => (await part.boundingBox())?.height
  /** Of the drawn name its height, of one that is set in type that of its letters: it may stand in two lines. */
  const nameSize = () =>
    page
      .locator('.logo')
      .first()
      .evaluate((logo) =>
        logo.matches('svg') ? logo.getBoundingClientRect().height : Number.parseFloat(getComputedStyle(logo).fontSize),
      )
  const buyNow = page.locator('.header-bar > .button')
  const menu = page.locator('.menu-button').first()
  expect(await height(buyNow)).toBeGreaterThanOrEqual(44)
  await page.setViewportSize(PHONE.viewport)
  const before = await nameSize()
  await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'))
  await expect.poll(() => buyNow.isVisible()).toBe(false)
  expect(await nameSize()).toBeGreaterThanOrEqual(before * 0.9)
  expect(await height(menu)).toBeGreaterThanOrEqual(44)
  const lines = menu.evaluate(({ firstChild }) => {
    const text = document.createRange()
    text.selectNodeContents(firstChild as Node)
    return text.getClientRects().length
  })
  expect(await lines).toBe(1)
})

it('with large text no name of an ingredient and no reference breaks at its hyphen', async () => {
  const { page } = await visit(productPath(products[1]), { ...CALM, ...PHONE })
  const broken = () => brokenWords(page, 'body', /Omega-3|[A-Z]{1,5}-[2-9A-Z]{6}/g)
  await enlarge(page, '200%')
  const names = await broken()
  await page.goto(`${site().url}/buy-now`)
  await fillOrder(page)
  await sendButton(page).click()
  await page.setViewportSize({ width: 320, height: 640 })
  await page.locator('.reference').waitFor()
  await enlarge(page, '200%')
  expect([...names, ...(await broken())]).toEqual([])
  expect(await sideways(page)).toBe(0)
  const { right = 0 } =
    (await page.locator('.reference').evaluate((text) => text.getBoundingClientRect().toJSON())) ?? {}
  expect(right).toBeLessThanOrEqual(320)
})

it('the open menu on a phone and the open list of products have no fault, and are told as open', async () => {
  const { page } = await visit('/', { ...CALM, ...PHONE })
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('dialog').waitFor()
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Menu')

  await page.setViewportSize({ width: 1440, height: 900 })
  const browser = await page.context().newCDPSession(page)
  /** As the browser tells assistive technology: the attribute is not in the page. */
  async function isToldAsExpanded() {
    const { nodes } = await browser.send('Accessibility.getFullAXTree')
    const button = nodes.find(({ role, name }) => role?.value === 'button' && name?.value === 'Products')
    return button?.properties?.find(({ name }) => name === 'expanded')?.value.value
  }
  expect(await isToldAsExpanded()).toBe(false)
  await page.getByRole('button', { name: 'Products' }).click()
  expect(await isToldAsExpanded()).toBe(true)
  expect(await violations(page)).toEqual([])
})

it('the form while it is refused, asks, and is received is valid HTML and has no fault', async () => {
  const { page } = await visit('/buy-now', { ...CALM, ...PHONE })
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
    expect(await violations(page), state).toEqual([])
    expect(await faultsOf(await current(page)), state).toEqual([])
  }
})

it('in forced colours the selected tab, the open card, a pressed button and a marked field differ from the others', async () => {
  const look = (locator: Locator) =>
    locator.evaluate((element) => {
      const { backgroundColor, borderTopColor, borderTopWidth } = getComputedStyle(element)
      return { backgroundColor, borderTopColor, borderTopWidth }
    })
  const { page } = await visit(productPath(products[1]), { ...CALM, ...PHONE, forcedColors: 'active' })
  for (const [selected, other] of [
    ['.segments [aria-pressed=true]', '.segments [aria-pressed=false]'],
    ['.indication[data-open=true]', '.indication[data-open=false]'],
  ] as const)
    expect(await look(page.locator(selected).first())).not.toEqual(await look(page.locator(other).first()))
  await page.goto(`${site().url}/buy-now`)
  const button = sendButton(page)
  const field = page.locator('#order-name')
  const [calmButton, calmField] = [await look(button), await look(field)]
  await button.hover()
  await page.mouse.down()
  await expect.poll(() => look(button)).not.toEqual(calmButton)
  await page.mouse.up()
  await toastOf(page, messages.empty).waitFor()
  expect(await look(field)).not.toEqual(calmField)
})

it('an order can be sent with the keyboard alone', async () => {
  const { page } = await visit('/buy-now', CALM)
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content')
  await page.keyboard.press('Enter')
  const names = await page
    .locator('#order .field [name]')
    .evaluateAll((fields) => fields.map((field) => field.getAttribute('name')))
  expect(names).toHaveLength(Object.keys(typedOrder).length)
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(brand.phone)
  for (const name of names) {
    await page.keyboard.press('Tab')
    await page.keyboard.type(typedOrder[name as OrderField])
  }
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.locator('.reference').waitFor()
})

it('what has the focus is never under the header, nor under the list of sections', async () => {
  const { page } = await visit(productPath(products[1]), CALM)
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  const { hidden, focused } = await page.evaluate(async () => {
    const hidden: string[] = []
    let focused = 0
    for (const target of [...document.querySelectorAll<HTMLElement>('a, button, summary, input, select')].reverse()) {
      if (!target.checkVisibility({ visibilityProperty: true }) || target.closest('[inert], header, .contents'))
        continue
      target.focus()
      focused += Number(target === document.activeElement)
      await new Promise(requestAnimationFrame)
      const { left, top, bottom, width } = target.getBoundingClientRect()
      const seen = document.elementFromPoint(left + width / 2, (Math.max(0, top) + bottom) / 2)
      if (seen?.closest('header, .contents')) hidden.push(target.textContent ?? '')
    }
    return { hidden, focused }
  })
  expect(hidden).toEqual([])
  expect(focused).toBeGreaterThan(40)
})

it('who asks for more contrast gets ink in place of muted ink and of thin lines', async () => {
  const { page } = await visit(productPath(products[1]), { contrast: 'more' })
  const { text, muted, line } = await page
    .locator('.notes p')
    .first()
    .evaluate((note) => {
      const { color, borderTopColor } = getComputedStyle(note.parentElement as Element)
      return {
        text: getComputedStyle(document.body).color,
        muted: getComputedStyle(note).color,
        line: borderTopColor || color,
      }
    })
  expect(muted).toBe(text)
  expect(
    await page
      .locator('.caption, .about-text')
      .first()
      .evaluate((part) => getComputedStyle(part).color),
  ).toBe(text)
  expect(line).toBe(text)
})

it('where pictures are blocked no alternative text lies on a link', async () => {
  const { page } = await visit('/', { viewport: { width: 1440, height: 900 } })
  await page.route(/\.(avif|webp)$/, (route) => route.abort())
  for (const [path, picture] of [
    ['/', '.banner-picture img'],
    [productPath(products[0]), '.gallery-first img'],
  ] as const) {
    await page.goto(new URL(path, page.url()).href)
    expect(await page.locator(picture).evaluate((image) => getComputedStyle(image).color)).toBe('rgba(0, 0, 0, 0)')
    expect(await page.locator(picture).getAttribute('alt')).toMatch(/\S/)
  }
})
