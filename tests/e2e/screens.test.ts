// On every tested screen no text lies on a picture, a toast covers nothing, and Enter does what the keyboard says.
import type { Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { anAddress, fillOrder } from '../support/fill-order.ts'
import { PHONE, siteForTests } from '../support/visit.ts'

const { visit } = siteForTests()
const TOUCH = { ...PHONE, hasTouch: true, isMobile: true }

/** Shares of the picture's width at which its softgels and its left bottle begin. */
const SOFTGELS = 0.06
const BOTTLE = 0.18

it('no text of the banner lies on its picture', async () => {
  const { page } = await visit('/')
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
  await page.locator('#order [name=name]').tap()
  for (const next of ['email', 'mobile', 'quantity', 'retailerSelfUse']) {
    await page.keyboard.press('Enter')
    expect(await focused()).toBe(next)
  }
  expect(await page.locator('#order [aria-invalid], .Toastify__toast').count()).toBe(0)
  const { page: desktop } = await visit('/buy-now')
  await fillOrder(desktop, { email: anAddress() })
  await desktop.locator('#order [name=name]').press('Enter')
  await desktop.locator('.reference').waitFor()
})
