// On every tested screen texts are whole, amounts are large, a tap takes effect at once, and a toast covers nothing.
import { expect, it } from 'vitest'
import { productPath, productSlug, products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { eventually } from '../support/eventually.ts'
import { anAddress, fillOrder, sendButton } from '../support/fill-order.ts'
import { isRelease, PHONE, siteForTests } from '../support/visit.ts'

const { visit } = siteForTests()
const xt = productPath(products[1])

it('a card that is tapped stays under the finger', async () => {
  const { page, close } = await visit(xt, { ...PHONE, hasTouch: true })
  const last = page.locator('.indication').last()
  await last.scrollIntoViewIfNeeded()
  await page.evaluate(() => scrollBy({ top: 200, behavior: 'instant' }))
  const top = () => last.evaluate((card) => card.getBoundingClientRect().top)
  const before = await top()
  await last.getByRole('button').tap()
  expect(await last.getAttribute('data-open')).toBe('true')
  expect(await top()).toBeCloseTo(before, 0)
  await close()
})

it.each([320, 360, 390])('no word under the figures of a product is broken, %i px wide', async (width) => {
  const { page, close } = await visit(xt, { viewport: { width, height: 740 } })
  const { words, broken } = await page.locator('.figures').evaluate((figures) => {
    const range = document.createRange()
    const texts = document.createTreeWalker(figures, NodeFilter.SHOW_TEXT)
    const all: { word: string; lines: number }[] = []
    while (texts.nextNode())
      for (const { 0: word, index } of (texts.currentNode.textContent ?? '').matchAll(/\S+/g)) {
        range.setStart(texts.currentNode, index)
        range.setEnd(texts.currentNode, index + word.length)
        all.push({ word, lines: range.getClientRects().length })
      }
    return { words: all.length, broken: all.filter(({ lines }) => lines > 1) }
  })
  expect(words).toBeGreaterThan(8)
  expect(broken).toEqual([])
  await close()
})

/** Shares of the picture's width at which its softgels and its left bottle begin. */
const SOFTGELS = 0.06
const BOTTLE = 0.18

it.each([600, 768, 900, 1024, 1440, 1920])('no text of the banner lies on its picture, %i px wide', async (width) => {
  const { page, close } = await visit('/', { viewport: { width, height: 900 } })
  const { picture, bottles, links } = await page.locator('.banner').evaluate((banner) => {
    const ends = (selector: string) =>
      [...banner.querySelectorAll(selector)].map((part) => {
        const range = document.createRange()
        range.selectNodeContents(part)
        return range.getBoundingClientRect().right
      })
    const { left, width: size } = (banner.querySelector('.banner-picture') as Element).getBoundingClientRect()
    return { picture: { left, size }, bottles: ends('h1, .lead'), links: ends('.in-line a') }
  })
  expect(Math.max(...bottles)).toBeLessThan(picture.left + BOTTLE * picture.size)
  expect(Math.max(...links)).toBeLessThan(picture.left + SOFTGELS * picture.size)
  await close()
})

it('each tab that is tapped is pressed by that tap', async () => {
  const { page, close } = await visit(xt, { ...PHONE, hasTouch: true, isMobile: true })
  const tabs = page.locator('.segments button')
  for (let index = (await tabs.count()) - 1; index >= 0; index--) {
    await tabs.nth(index).tap()
    expect(await tabs.nth(index).getAttribute('aria-pressed')).toBe('true')
  }
  await close()
})

it('Next on the keyboard of a phone moves from field to field, and sends nothing', async () => {
  const { page, close } = await visit('/buy-now', { ...PHONE, hasTouch: true, isMobile: true })
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('name'))
  await page.locator('#order [name=name]').tap()
  for (const next of ['email', 'mobile', 'quantity', 'retailerSelfUse']) {
    await page.keyboard.press('Enter')
    expect(await focused()).toBe(next)
  }
  await page.waitForTimeout(300)
  expect(await page.locator('[aria-invalid], .Toastify__toast').count()).toBe(0)
  await page.locator('#subscribe-email').tap()
  await page.keyboard.press('Enter') // this field has the hint `send`
  await page.locator('#subscribe-email[aria-invalid]').waitFor()
  await close()
})

it.each(['/', xt])('one Buy Now is on the screen at a time, wherever one reads on %s', async (path) => {
  const height = 640
  const { page, close } = await visit(path, { viewport: { width: 360, height }, reducedMotion: 'reduce' })
  const inHeader = page.locator('.header-bar > .button')
  expect(await inHeader.getAttribute('href')).toBe(
    path === '/' ? '/buy-now' : `/buy-now?product=${productSlug(products[1])}`,
  )
  const first = page.locator(':is(.banner, .product-text) .button')
  for (const top of [0, 300, 2500]) {
    await page.evaluate((y) => scrollTo({ top: y, behavior: 'instant' }), top)
    await eventually(async () => {
      const box = await first.boundingBox()
      const isInView = box !== null && box.y + box.height > 0 && box.y < height
      expect(await inHeader.isVisible(), `at ${top}`).toBe(!isInView)
    })
  }
  expect((await inHeader.boundingBox())?.height).toBeGreaterThanOrEqual(44)
  await close()
})

it.each([
  ['/', { width: 360, height: 640 }, 'Send'],
  ['/buy-now', { width: 360, height: 640 }, 'Send'],
  ['/buy-now', { width: 1024, height: 768 }, 'Enter'],
  ['/buy-now', { width: 1440, height: 900 }, 'Enter'],
])('the reference is in sight after an order is sent: %s, %j, by %s', async (path, viewport, by) => {
  const { page, close } = await visit(path, { viewport })
  await fillOrder(page, { email: anAddress() })
  if (by === 'Enter') await page.locator('#order [name=name]').press('Enter')
  else await sendButton(page).click()
  const reference = page
    .locator('.received .slip-reference, .received')
    .getByText(/^[A-Z]+-[0-9A-Z]{6}$/)
    .first()
  await reference.waitFor()
  const isInSight = () =>
    reference.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect()
      return top >= 0 && bottom <= innerHeight
    })
  await eventually(async () => expect(await isInSight()).toBe(true), 5000)
  await page.waitForTimeout(600) // a smooth scroll would have begun by then
  expect(await isInSight()).toBe(true)
  await close()
})

it('a row of the label opens wherever it is tapped, and its ring is seen', async () => {
  const { page, close } = await visit(xt, { ...PHONE, hasTouch: true })
  const row = page.locator('.panel tbody tr').first()
  await row.scrollIntoViewIfNeeded()
  const { x = 0, y = 0, height = 0 } = (await row.boundingBox()) ?? {}
  await page.touchscreen.tap(x + 12, y + height / 2)
  expect(await page.locator('.about').first().isVisible()).toBe(true)
  await page.locator('.panel summary').nth(1).focus()
  await page.keyboard.press('Shift+Tab')
  expect(await row.evaluate((each) => getComputedStyle(each).outline)).toMatch(/rgb\(31, 26, 23\) solid 3px/)
  await close()
})

it('the section that is read is marked in the list, which stays under the header', async () => {
  const { page, close } = await visit(xt, { ...PHONE, reducedMotion: 'reduce' })
  const list = page.getByRole('navigation', { name: 'Sections of this page' })
  const header = page.getByRole('banner')
  for (const name of ['Salt Composition', 'Safety Information']) {
    const link = list.getByRole('link', { name })
    await link.evaluate((each) => (each as HTMLElement).click())
    await page.locator(`.contents [aria-current]`, { hasText: name }).waitFor()
    await page.evaluate(() => scrollBy(0, -10)) // the list is back
    await eventually(async () => {
      const [at, bar] = await Promise.all([link.boundingBox(), header.locator('.header-bar').boundingBox()])
      expect(at?.y).toBeGreaterThanOrEqual((bar?.height ?? 0) - 13)
      expect(at?.y).toBeLessThan(120)
      expect(at?.x).toBeGreaterThanOrEqual(0)
    })
  }
  await close()
})

it.each(['/', ...products.map(productPath)])(
  'on %s every amount is at least 20 px high in the display face, and its unit 14 px in that of the text',
  async (path) => {
    const { page, close } = await visit(path, PHONE)
    expect(await page.locator('.amount').count()).toBeGreaterThan(0)
    for (const width of [320, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      const wrong = await page.locator('.amount, .amount small').evaluateAll((amounts) =>
        amounts
          .map((amount) => ({
            text: amount.textContent,
            unit: amount.matches('small'),
            style: getComputedStyle(amount),
          }))
          .filter(({ unit, style }) => {
            const size = Number.parseFloat(style.fontSize)
            const face = style.fontFamily.split(',')[0]
            return unit ? size < 14 || face !== 'Figtree' : size < 20 || face !== 'Fraunces'
          })
          .map(({ text }) => text),
      )
      expect(wrong, `at ${width} px`).toEqual([])
    }
    await close()
  },
)

it('the list of sections makes room while one reads on, and is back when one scrolls up', async () => {
  const { page, close } = await visit(xt, { ...PHONE, reducedMotion: 'reduce' })
  const top = async (by: number) => {
    await page.evaluate((y) => scrollBy({ top: y, behavior: 'instant' }), by)
    await page.waitForTimeout(100)
    return (await page.locator('.contents').boundingBox())?.y ?? 0
  }
  await top(1800)
  expect(await top(300)).toBeLessThan(-100)
  expect(await top(-60)).toBeGreaterThan(0)
  await close()
})

it('the answer of the subscribe box is in view above the keyboard, and a wrong address is marked', async () => {
  const { page, close } = await visit('/privacy-policy', {
    viewport: { width: 360, height: 360 },
    reducedMotion: 'reduce',
  })
  const field = page.locator('#subscribe-email')
  await field.fill('nobody')
  await page.locator('[data-island=subscribe][data-hydrated]').waitFor()
  const before = await field.evaluate((box) => getComputedStyle(box).borderTopColor)
  await field.press('Enter')
  const answer = page.locator('.subscribe-answer', { hasText: /./ })
  await answer.waitFor()
  await eventually(async () => {
    const { y = 999, height = 0 } = (await answer.boundingBox()) ?? {}
    expect(y).toBeGreaterThan(0)
    expect(y + height).toBeLessThanOrEqual(360)
  })
  expect(await answer.textContent()).toBe(messages.email)
  await eventually(async () =>
    expect(await field.evaluate((box) => getComputedStyle(box).borderTopColor)).not.toBe(before),
  )
  await close()
})

const otherScreens: [number, number][] = [
  [390, 844],
  [768, 1024],
  [780, 360],
]

it.each([[320, 568], [1440, 900], ...(isRelease ? otherScreens : [])])(
  'at %i × %i a toast covers nothing, and the first wrong field is in view',
  async (width, height) => {
    const { page, close } = await visit('/buy-now', { viewport: { width, height }, reducedMotion: 'reduce' })
    const toast = page.locator('.Toastify__toast[role]')
    /** What stands in the place of the toast, besides itself. */
    const covered = () =>
      toast.evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect()
        const others = document.querySelectorAll('#order :is(.field, .submit-row), .received > :not(.Toastify)')
        return [...others].filter((other) => {
          const box = other.getBoundingClientRect()
          return box.height > 0 && box.bottom > top && box.top < bottom
        }).length
      })
    const isInView = (element: Element) => {
      const { left, top, bottom } = element.getBoundingClientRect()
      return element.contains(document.elementFromPoint(left + 5, (top + bottom) / 2))
    }
    await fillOrder(page, { name: '' })
    await sendButton(page).click()
    await toast.waitFor()
    await eventually(async () => expect(await page.locator(':focus').evaluate(isInView)).toBe(true))
    expect(await covered()).toBe(0)
    await fillOrder(page, { mobile: '98765' })
    await page.evaluate(() => scrollTo({ top: document.body.scrollHeight, behavior: 'instant' }))
    await page.locator('#order').evaluate((form) => (form as HTMLFormElement).requestSubmit())
    await toast.waitFor()
    await eventually(async () => expect(await page.locator(':focus').evaluate(isInView)).toBe(true))
    expect(await covered()).toBe(0)
    await fillOrder(page)
    await sendButton(page).click()
    await page.locator('.reference').waitFor()
    expect(await covered()).toBe(0)
    await close()
  },
)

it.each([
  [390, 844],
  [1440, 900],
])(
  'at %i × %i the success toast is in view, also where the form was scrolled under the header',
  async (width, height) => {
    const { page, close } = await visit('/', { viewport: { width, height }, reducedMotion: 'reduce' })
    await fillOrder(page)
    await page.locator('#order').evaluate((form) => {
      scrollBy({ top: form.getBoundingClientRect().top + 160, behavior: 'instant' })
      ;(form as HTMLFormElement).requestSubmit()
    })
    const toast = page.locator('.Toastify__toast--success')
    await toast.waitFor()
    const isSeen = () =>
      toast.evaluate((element) => {
        const { left, top } = element.getBoundingClientRect()
        return element.contains(document.elementFromPoint(left + 20, top + 2))
      })
    await eventually(async () => expect(await isSeen()).toBe(true))
    await close()
  },
)

it('without scripts too, amounts are in the display face', async () => {
  const { page, close } = await visit(xt, { ...PHONE, javaScriptEnabled: false })
  await page.evaluate(() => document.fonts.ready)
  const loaded = await page.evaluate(() => [...document.fonts].filter(({ status }) => status === 'loaded'))
  expect(loaded.length).toBeGreaterThan(0)
  const amount = page.locator('.panel .amount').first()
  expect(await amount.evaluate((element) => getComputedStyle(element).fontFamily)).toMatch(/^Fraunces,/)
  expect(await page.evaluate(() => document.fonts.check('600 20px Fraunces'))).toBe(true)
  await close()
})

it('under a thumb "read more" is 44 px high, and a tap leaves no mark of hovering', async () => {
  const { page, close } = await visit(xt, { ...PHONE, hasTouch: true, isMobile: true })
  const more = page.getByRole('button', { name: /^read more/ }).first()
  expect((await more.boundingBox())?.height).toBeGreaterThanOrEqual(44)
  const link = page.getByRole('link', { name: 'Show it to your physician' })
  const thickness = () => link.evaluate((element) => getComputedStyle(element).textDecorationThickness)
  const before = await thickness()
  await link.hover() // as after a tap
  expect(await thickness()).toBe(before)
  await close()
})

it('on a phone the word about the illustration stands under the bottle', async () => {
  const { page, close } = await visit(xt, PHONE)
  const [picture, word] = await Promise.all(
    ['.gallery-first', '.illustration'].map((selector) => page.locator(selector).boundingBox()),
  )
  const gap = (word?.y ?? 0) - (picture?.y ?? 0) - (picture?.height ?? 0)
  expect(gap).toBeGreaterThanOrEqual(0)
  expect(gap).toBeLessThan(24)
  await close()
})

it('at 1440 × 900 a link to the mechanism shows both cards of a slide, and the form its slip', async () => {
  const { page, close } = await visit(`${xt}#mechanism`)
  await page.getByRole('button', { name: 'Oncology' }).first().click()
  const texts = page.locator('.slick-active [data-cards="2"] .ingredient-text')
  await eventually(async () => expect(await texts.count()).toBe(2))
  const bottom = (element: Element) => element.getBoundingClientRect().bottom
  await eventually(async () => expect(await texts.last().evaluate(bottom)).toBeLessThanOrEqual(900))
  await page.goto(new URL('/buy-now', page.url()).href)
  expect(await page.locator('.slip').evaluate(bottom)).toBeLessThanOrEqual(900)
  await close()
})

it('on a page translated into Arabic or Urdu a figure stands before its unit, and a drop beside its name', async () => {
  const { page, close } = await visit(xt, PHONE)
  await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
  const wrong = await page.locator('.panel tbody tr:not(.about)').evaluateAll((rows) =>
    rows.filter((row) => {
      const left = (selector: string) => row.querySelector(selector)?.getBoundingClientRect().left ?? 0
      const name = document.createRange()
      name.selectNode(row.querySelector('.hue')?.nextSibling ?? row)
      return (
        left('.amount small:last-child') <= left('.amount bdi') || left('.hue') < name.getBoundingClientRect().right
      )
    }),
  )
  expect(wrong).toEqual([])
  await close()
})
