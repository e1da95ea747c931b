// Axe finds no WCAG 2.2 AA fault on any page, zoomed text is not cut, and an order can be sent with the keyboard alone.
import { AxeBuilder } from '@axe-core/playwright'
import type { Locator, Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { brand } from '../../shared/brand.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { messages, type OrderField } from '../../shared/order.ts'
import { fillOrder, sendButton, toastOf, typedOrder } from '../support/fill-order.ts'
import { PHONE, paths, siteForTests } from '../support/visit.ts'

const { visit, site } = siteForTests()
const CALM = { reducedMotion: 'reduce' } as const
/** Axe searches every page at the first width; at the others those that look different there. */
const WIDTHS = [360, 768, 1440]
const WIDE = ['/', ...products.map(productPath)]
/** A phone, and a screen of 1,280 px at 200 % and 400 %. */
const ZOOMED = [
  { width: 320, height: 640 },
  { width: 640, height: 400 },
  { width: 320, height: 256 },
]

async function violations(page: Page) {
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  // Legacy mode is for a page without frames; what passes need not be described.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  const result = await axe.withTags(tags).analyze()
  return result.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(' ')}`)
}

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
const READERS_STYLES: [name: string, width: number, css: string][] = [
  [
    'text spacing',
    320,
    '* { letter-spacing: .12em !important; word-spacing: .16em !important; line-height: 1.5 !important } p { margin-bottom: 2em !important }',
  ],
  ['text of 200 %', 360, 'html { font-size: 200% !important }'],
]

/** Rows of the comparison in which one text lies on another. */
function overlaps(page: Page) {
  return page.locator('.comparison tr').evaluateAll((rows) =>
    rows
      .filter((row) => {
        const boxes = [...row.querySelectorAll('th, .amount')].map((cell) => {
          const range = document.createRange()
          range.selectNodeContents(cell)
          return range.getBoundingClientRect()
        })
        return boxes.some((box, index) =>
          boxes.slice(index + 1).some((other) => {
            const isBeside = box.right <= other.left + 1 || other.right <= box.left + 1
            return !isBeside && box.top < other.bottom - 1 && other.top < box.bottom - 1
          }),
        )
      })
      .map(({ textContent }) => textContent),
  )
}

const sideways = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

it.each([...paths, '/nowhere'])(
  '%s has no fault that axe finds, cuts no text and has a clean console',
  async (path) => {
    const { page, problems } = await visit(path, { ...CALM, ...PHONE })
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      if (path.startsWith('/products')) {
        await page.locator('#mechanism').scrollIntoViewIfNeeded()
        await page.locator(width >= 900 ? '.carousel' : '.segments').waitFor()
      }
      if (width === WIDTHS[0] || WIDE.includes(path)) expect(await violations(page), `at ${width} px`).toEqual([])
      expect(await sideways(page), `at ${width} px`).toBe(0)
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
    }
    expect(problems.filter((problem) => path !== '/nowhere' || !problem.includes('404'))).toEqual([])
  },
)

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

it('the open menu on a phone and the open list of products have no fault', async () => {
  const { page } = await visit('/', { ...CALM, ...PHONE })
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('dialog').waitFor()
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Menu')

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

it('toast, marked fields and confirmation have no fault, and a marked field stays marked under the pointer', async () => {
  const { page } = await visit('/buy-now', { ...CALM, ...PHONE })
  await sendButton(page).click()
  await toastOf(page, messages.empty).waitFor()
  expect(await violations(page)).toEqual([])
  const field = page.locator('[aria-invalid=true]').last() // not focused: that is the first
  const border = () => field.evaluate((each) => getComputedStyle(each).borderTopColor)
  await page.mouse.move(0, 0)
  const untouched = await border()
  await field.hover()
  expect(await border()).toBe(untouched)
  await fillOrder(page)
  await sendButton(page).click()
  await page.locator('.reference').waitFor()
  expect(await violations(page)).toEqual([])
})

it('an order can be sent with the keyboard alone', async () => {
  const { page, problems } = await visit('/buy-now', CALM)
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
  expect(problems).toEqual([])
})

it('what has the focus is never under the header, nor under the list of sections', async () => {
  const { page } = await visit(productPath(products[1]), CALM)
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  const hidden: string[] = []
  await page.locator('footer a').last().focus()
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press('Shift+Tab')
    const covered = await page.evaluate(() => {
      const focus = document.activeElement
      focus?.toggleAttribute('data-had-focus', true)
      if (!focus || focus.closest('header, .contents') || focus === document.body) return undefined
      const { left, top, bottom, width } = focus.getBoundingClientRect()
      const seen = document.elementFromPoint(left + width / 2, (Math.max(0, top) + bottom) / 2)
      return seen?.closest('header, .contents') ? (focus.textContent ?? '') : undefined
    })
    if (covered !== undefined) hidden.push(covered)
  }
  expect(await page.locator('.skip-link[data-had-focus]').count()).toBe(1) // all the way up the page
  expect(hidden).toEqual([])
})

it('what the keyboard reaches in a row that scrolls sideways is whole in view', async () => {
  const width = 320
  const { page } = await visit(productPath(products[1]), { ...CALM, viewport: { width, height: 700 } })
  for (const row of ['.contents a', '.segments button']) {
    await page.locator(row).first().focus()
    const count = await page.locator(row).count()
    for (let step = 1; step < count; step++) {
      await page.keyboard.press('Tab')
      const { left, right, mask } = await page.evaluate(() => {
        const focus = document.activeElement as HTMLElement
        const box = focus.getBoundingClientRect()
        return { left: box.left, right: box.right, mask: getComputedStyle(focus.offsetParent as Element).maskImage }
      })
      expect(left, row).toBeGreaterThanOrEqual(0)
      if (right - left < width) expect(right, row).toBeLessThanOrEqual(width)
      expect(mask).toBe('none')
    }
  }
})

it('on a low screen the header scrolls with the page, and the headline is in the first half', async () => {
  const { page } = await visit('/', { ...CALM, viewport: { width: 780, height: 360 } })
  expect((await page.getByRole('heading', { level: 1 }).boundingBox())?.y).toBeLessThan(180)
  await page.evaluate(() => scrollTo(0, 600))
  await page.locator('html[data-scrolled]').waitFor()
  expect((await page.locator('.header-bar').boundingBox())?.y).toBeLessThan(-300)
})

it.each([
  ['a thumb', { viewport: { width: 390, height: 900 }, hasTouch: true, isMobile: true }, 44],
  ['a mouse', { viewport: { width: 1440, height: 900 } }, 24],
])('under %s every link, button and field is reached at its middle, and none is too low', async (_, options, least) => {
  const { page } = await visit('/', { ...CALM, ...options })
  for (const path of paths) {
    await page.goto(site().url + path)
    await page.locator('html[data-ready]').waitFor()
    if (path.startsWith('/products')) {
      await page.locator('#mechanism').scrollIntoViewIfNeeded()
      await page.locator(options.viewport.width < 900 ? '.segments' : '.carousel').waitFor()
    }
    await page.evaluate(() => scrollTo(0, 0))
    await page.locator('html:not([data-scrolled])').waitFor() // the header is where it begins
    const found = await page.evaluate((px) => {
      const covered: string[] = []
      const low: string[] = []
      for (const target of document.querySelectorAll<HTMLElement>('a, button, summary, input, select')) {
        if (!target.checkVisibility({ visibilityProperty: true })) continue
        if (target.closest('[inert], .visually-hidden, .skip-link')) continue
        target.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
        const { left, top, width, height } = target.getClientRects()[0] as DOMRect
        const hit = document.elementFromPoint(left + width / 2, top + height / 2)
        if (!target.contains(hit)) covered.push(`${target.outerHTML.slice(0, 80)} under ${hit?.className}`)
        if (target.matches('a, button, summary') && height < px - 0.5) low.push(`${target.textContent}: ${height} px`)
      }
      return { covered, low }
    }, least)
    expect(found, path).toEqual({ covered: [], low: [] })
  }
})
