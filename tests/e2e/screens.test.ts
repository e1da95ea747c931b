// On every tested screen no text lies on a picture, what one looks for is in view, and Enter does what the keyboard says.
import type { Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { productSections } from '../../client/content/product.ts'
import { content } from '../../client/content/products/xt.ts'
import { COMPOSITION_ID, productPath, productSlug, products } from '../../shared/catalogue.ts'
import { eventually } from '../support/eventually.ts'
import { anAddress, fillOrder, typedOrder } from '../support/fill-order.ts'
import { PHONE, siteForTests } from '../support/visit.ts'

const { visit } = siteForTests()
const xt = productPath(products[1])
const TOUCH = { ...PHONE, hasTouch: true, isMobile: true }

/** Shares of the picture's width at which its softgels and its left bottle begin. */
const SOFTGELS = 0.06
const BOTTLE = 0.18

it.each(['own', 'longer'])('no text of the banner lies on its picture, with its %s headline', async (whose) => {
  const { page } = await visit('/')
  if (whose === 'longer')
    await page.locator('.banner h1').evaluate((title: HTMLElement) => {
      title.innerText = 'For everybody who wants to know\nwhat is in a capsule'
    })
  for (const width of [600, 768, 900, 1024, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 })
    const { picture, title, links } = await page.locator('.banner').evaluate((banner) => {
      const endOf = (selector: string) => {
        const text = document.createRange()
        const ends = [...banner.querySelectorAll(selector)].map((part) => {
          text.selectNodeContents(part)
          return text.getBoundingClientRect().right
        })
        return Math.max(...ends)
      }
      const { left, width } = (banner.querySelector('.banner-picture') as Element).getBoundingClientRect()
      return { picture: { left, width }, title: endOf('h1, .lead'), links: endOf('.in-line a') }
    })
    expect(title, `at ${width} px`).toBeLessThan(picture.left + BOTTLE * picture.width)
    expect(links, `at ${width} px`).toBeLessThan(picture.left + SOFTGELS * picture.width)
  }
})

const toastIn = (page: Page) => page.locator('#order .Toastify__toast')

function isInView(element: Element) {
  const { left, top, bottom } = element.getBoundingClientRect()
  return element.contains(document.elementFromPoint(left + 20, Math.min((top + bottom) / 2, innerHeight - 1)))
}

/** How much stands in the place of the toast, besides itself. */
function coveredByToast(page: Page) {
  return toastIn(page).evaluate((toast) => {
    const { top, bottom } = toast.getBoundingClientRect()
    const others = document.querySelectorAll('#order :is(.field, .submit-row), .received > :not(.Toastify)')
    return [...others].filter((other) => {
      const box = other.getBoundingClientRect()
      return box.height > 0 && box.bottom > top && box.top < bottom
    }).length
  })
}

/** From a place where the form has been scrolled under the header. */
function sendFromBelow(page: Page) {
  return page.locator('#order').evaluate((form) => {
    scrollBy({ top: form.getBoundingClientRect().top + 160, behavior: 'instant' })
    ;(form as HTMLFormElement).requestSubmit()
  })
}

it.each([
  [320, 568],
  [1440, 900],
])('at %i × %i toast, first wrong field and reference are in view, and nothing is covered', async (width, height) => {
  const { page } = await visit('/', { viewport: { width, height }, reducedMotion: 'reduce' })
  for (const wrong of [{ name: '' }, { mobile: '98765' }]) {
    await fillOrder(page, wrong)
    await page.locator('[data-island=order][data-hydrated]').waitFor() // else the browser posts the form, and a page answers
    await sendFromBelow(page)
    await toastIn(page).waitFor()
    await expect.poll(() => page.locator('#order :focus').evaluate(isInView)).toBe(true)
    expect(await coveredByToast(page)).toBe(0)
  }
  await fillOrder(page, { email: anAddress() })
  await sendFromBelow(page)
  await expect.poll(() => page.locator('.received .reference').evaluate(isInView)).toBe(true)
  await expect.poll(() => toastIn(page).evaluate(isInView)).toBe(true)
  expect(await coveredByToast(page)).toBe(0)
})

it('on touch screens Enter moves from field to field and sends nothing; with a keyboard it sends', async () => {
  const { page } = await visit('/buy-now', TOUCH)
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('name'))
  const names = await page
    .locator('#order .field [name]')
    .evaluateAll((fields) => fields.map((field) => field.getAttribute('name')))
  expect(names).toHaveLength(Object.keys(typedOrder).length)
  await page.locator('#order [name=name]').tap()
  for (const next of names.slice(1, names.indexOf('retailerSelfUse') + 1)) {
    await page.keyboard.press('Enter')
    expect(await focused()).toBe(next)
  }
  expect(await page.locator('#order [aria-invalid], .Toastify__toast').count()).toBe(0)
  const { page: desktop } = await visit('/buy-now')
  await fillOrder(desktop, { email: anAddress() })
  await desktop.locator('#order [name=name]').press('Enter')
  await desktop.locator('.reference').waitFor()
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

it('the section that is read is marked in the list, which makes room while one reads on and is back above', async () => {
  const { page } = await visit(xt, { ...PHONE, reducedMotion: 'reduce' })
  const list = page.getByRole('navigation', { name: 'Sections of this page' })
  const bar = page.getByRole('banner').locator('.header-bar')
  const scroll = (by: number) => page.evaluate((top) => scrollBy({ top, behavior: 'instant' }), by)
  for (const id of [COMPOSITION_ID, 'safety']) {
    const name = productSections.find((section) => section.id === id)?.title ?? ''
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

it('at 1440 × 900 a link to the mechanism shows both cards of a slide, and the form its slip', async () => {
  const { page } = await visit(`${xt}#mechanism`)
  const ofTwo = content.mechanism.slides.find(({ cards }) => cards.length === 2)?.title ?? ''
  await page.locator('#mechanism').getByRole('button', { name: ofTwo }).first().click()
  const texts = page.locator('.slick-active [data-cards="2"] .ingredient-text')
  await eventually(async () => expect(await texts.count()).toBe(2))
  const bottom = (element: Element) => element.getBoundingClientRect().bottom
  await eventually(async () => expect(await texts.last().evaluate(bottom)).toBeLessThanOrEqual(900))
  await page.goto(new URL('/buy-now', page.url()).href)
  expect(await page.locator('.slip').evaluate(bottom)).toBeLessThanOrEqual(900)
})
