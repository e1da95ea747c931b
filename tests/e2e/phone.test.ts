// On every tested screen texts are whole, amounts are large, a tap takes effect at once, and a toast covers nothing.
import { expect, it } from 'vitest'
import { productPath, productSlug, products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { eventually } from '../support/eventually.ts'
import { anAddress, fillOrder, sendButton } from '../support/fill-order.ts'
import { PHONE, siteForTests } from '../support/visit.ts'

const { visit } = siteForTests()
const xt = productPath(products[1])
const TOUCH = { ...PHONE, hasTouch: true, isMobile: true }

it('a tap on a card leaves it under the finger, each tab is pressed by its tap, and a row of the label opens anywhere', async () => {
  const { page } = await visit(xt, TOUCH)
  await page.evaluate(() => document.documentElement.style.setProperty('overflow-anchor', 'none')) // Safari has none
  const last = page.locator('.indication').last()
  await last.scrollIntoViewIfNeeded()
  await page.evaluate(() => scrollBy({ top: 200, behavior: 'instant' }))
  const top = () => last.evaluate((card) => card.getBoundingClientRect().top)
  const before = await top()
  await last.getByRole('button').tap()
  expect(await last.getAttribute('data-open')).toBe('true')
  expect(await top()).toBeCloseTo(before, 0)
  const tabs = page.locator('.segments button')
  for (let index = (await tabs.count()) - 1; index >= 0; index--) {
    await tabs.nth(index).tap()
    expect(await tabs.nth(index).getAttribute('aria-pressed')).toBe('true')
  }
  const row = page.locator('.panel tbody tr').first()
  await row.scrollIntoViewIfNeeded()
  const { x = 0, y = 0, height = 0 } = (await row.boundingBox()) ?? {}
  await page.touchscreen.tap(x + 12, y + height / 2)
  expect(await page.locator('.about').first().isVisible()).toBe(true)
})

/** Shares of the picture's width at which its softgels and its left bottle begin. */
const SOFTGELS = 0.06
const BOTTLE = 0.18

it('no text of the banner lies on its picture', async () => {
  const { page } = await visit('/')
  for (const width of [600, 768, 900, 1024, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 })
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
    expect(Math.max(...bottles), `at ${width} px`).toBeLessThan(picture.left + BOTTLE * picture.size)
    expect(Math.max(...links), `at ${width} px`).toBeLessThan(picture.left + SOFTGELS * picture.size)
  }
})

it('Next on the keyboard of a phone moves from field to field, and sends nothing', async () => {
  const { page } = await visit('/buy-now', TOUCH)
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('name'))
  await page.locator('#order [name=name]').tap()
  for (const next of ['email', 'mobile', 'quantity', 'retailerSelfUse']) {
    await page.keyboard.press('Enter')
    expect(await focused()).toBe(next)
  }
  await page.locator('#subscribe-email').tap()
  await page.keyboard.press('Enter') // this field has the hint `send`
  await page.locator('#subscribe-email[aria-invalid]').waitFor()
  expect(await page.locator('#order [aria-invalid], .Toastify__toast').count()).toBe(0)
})

it.each(['/', xt])('one Buy Now is on the screen at a time, wherever one reads on %s', async (path) => {
  const height = 640
  const { page } = await visit(path, { viewport: { width: 360, height }, reducedMotion: 'reduce' })
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
})

it.each([
  ['/', { width: 360, height: 640 }, 'Send'],
  ['/buy-now', { width: 1440, height: 900 }, 'Enter'],
])('the reference is in sight after an order is sent: %s, %j, by %s', async (path, viewport, by) => {
  const { page } = await visit(path, { viewport })
  await fillOrder(page, { email: anAddress() })
  await page.locator('[data-island=order][data-hydrated]').waitFor()
  if (by === 'Enter') await page.locator('#order [name=name]').press('Enter')
  else await sendButton(page).click()
  const reference = page.locator('.received .reference')
  await expect
    .poll(() =>
      reference.evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      }),
    )
    .toBe(true)
})

it('the section that is read is marked in the list, which makes room while one reads on and is back above', async () => {
  const { page } = await visit(xt, { ...PHONE, reducedMotion: 'reduce' })
  const list = page.getByRole('navigation', { name: 'Sections of this page' })
  const bar = page.getByRole('banner').locator('.header-bar')
  const scroll = (by: number) => page.evaluate((top) => scrollBy({ top, behavior: 'instant' }), by)
  for (const name of ['Salt Composition', 'Safety Information']) {
    const link = list.getByRole('link', { name })
    await link.evaluate((each) => (each as HTMLElement).click())
    await page.locator(`.contents [aria-current]`, { hasText: name }).waitFor()
    await expect.poll(async () => (await list.boundingBox())?.y).toBeLessThan(-100)
    await scroll(-10)
    await eventually(async () => {
      const [at, above] = await Promise.all([link.boundingBox(), bar.boundingBox()])
      expect(at?.y).toBeGreaterThanOrEqual((above?.height ?? 0) - 13)
      expect(at?.y).toBeLessThan(120)
      expect(at?.x).toBeGreaterThanOrEqual(0)
    })
  }
})

it('without scripts too, amounts are large and in the display face', async () => {
  const { page } = await visit(xt, { ...PHONE, javaScriptEnabled: false })
  const faces = await page.locator('.amount').evaluateAll((amounts) =>
    amounts.map((amount) => {
      const { fontSize, fontFamily } = getComputedStyle(amount)
      return Number.parseFloat(fontSize) >= 20 && fontFamily.startsWith('Fraunces,')
    }),
  )
  expect(faces.length).toBeGreaterThan(10)
  expect(faces).not.toContain(false)
  expect(await page.evaluate(() => document.fonts.check('600 20px Fraunces'))).toBe(true)
})

it('the answer of the subscribe box is in view above the keyboard, and a wrong address is marked', async () => {
  const { page } = await visit('/privacy-policy', {
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
})

it.each([
  [320, 568],
  [1440, 900],
])('at %i × %i toasts are in view and cover nothing, and so is the first wrong field', async (width, height) => {
  const { page } = await visit('/', { viewport: { width, height }, reducedMotion: 'reduce' })
  const toast = page.locator('#order .Toastify__toast')
  const isInView = (element: Element) => {
    const { left, top, bottom } = element.getBoundingClientRect()
    return element.contains(document.elementFromPoint(left + 20, Math.min((top + bottom) / 2, innerHeight - 1)))
  }
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
  /** From a place where the form has been scrolled under the header. */
  const sendFromBelow = () =>
    page.locator('#order').evaluate((form) => {
      scrollBy({ top: form.getBoundingClientRect().top + 160, behavior: 'instant' })
      ;(form as HTMLFormElement).requestSubmit()
    })
  for (const wrong of [{ name: '' }, { mobile: '98765' }]) {
    await fillOrder(page, wrong)
    await sendFromBelow()
    await toast.waitFor()
    await expect.poll(() => page.locator('#order :focus').evaluate(isInView)).toBe(true)
    expect(await covered()).toBe(0)
  }
  await fillOrder(page, { email: anAddress() })
  await sendFromBelow()
  await page.locator('.reference').waitFor()
  await expect.poll(() => toast.evaluate(isInView)).toBe(true)
  expect(await covered()).toBe(0)
})

it('under a thumb "read more" is 44 px high, and a tap leaves no mark of hovering', async () => {
  const { page } = await visit(xt, { ...PHONE, hasTouch: true, isMobile: true })
  const more = page.getByRole('button', { name: /^read more/ }).first()
  expect((await more.boundingBox())?.height).toBeGreaterThanOrEqual(44)
  const link = page.getByRole('link', { name: 'Show it to your physician' })
  const thickness = () => link.evaluate((element) => getComputedStyle(element).textDecorationThickness)
  const before = await thickness()
  await link.hover() // as after a tap
  expect(await thickness()).toBe(before)
})

it('on a phone the word about the illustration stands under the bottle', async () => {
  const { page } = await visit(xt, PHONE)
  const [picture, word] = await Promise.all(
    ['.gallery-first', '.illustration'].map((selector) => page.locator(selector).boundingBox()),
  )
  const gap = (word?.y ?? 0) - (picture?.y ?? 0) - (picture?.height ?? 0)
  expect(gap).toBeGreaterThanOrEqual(0)
  expect(gap).toBeLessThan(24)
})

it('at 1440 × 900 a link to the mechanism shows both cards of a slide, and the form its slip', async () => {
  const { page } = await visit(`${xt}#mechanism`)
  await page.getByRole('button', { name: 'Oncology' }).first().click()
  const texts = page.locator('.slick-active [data-cards="2"] .ingredient-text')
  await eventually(async () => expect(await texts.count()).toBe(2))
  const bottom = (element: Element) => element.getBoundingClientRect().bottom
  await eventually(async () => expect(await texts.last().evaluate(bottom)).toBeLessThanOrEqual(900))
  await page.goto(new URL('/buy-now', page.url()).href)
  expect(await page.locator('.slip').evaluate(bottom)).toBeLessThanOrEqual(900)
})

it('on a page translated into Arabic or Urdu a figure stands before its unit, and a drop beside its name', async () => {
  const { page } = await visit(xt, PHONE)
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
})
