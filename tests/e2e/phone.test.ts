import { expect, it } from 'vitest'
import { productPath, productSlug, products } from '../../shared/catalogue.ts'
import { PHONE, siteForTests } from '../support/visit.ts'

const { visit } = siteForTests()
const xt = productPath(products[1])

it('a card that is tapped stays under the finger', async () => {
  const { page, close } = await visit(xt, { ...PHONE, hasTouch: true })
  const last = page.locator('.indication').last()
  await last.scrollIntoViewIfNeeded()
  await page.evaluate(() => scrollBy({ top: 200, behavior: 'instant' }))
  const top = () => last.evaluate((card) => Math.round(card.getBoundingClientRect().top))
  const before = await top()
  await last.getByRole('button').tap()
  expect(await last.getAttribute('data-open')).toBe('true')
  expect(await top()).toBe(before)
  await close()
})

it('Buy Now stands in the header from the first screen on, with the product of the page, large enough for a finger', async () => {
  const { page, close } = await visit(xt, PHONE)
  const button = page.getByRole('banner').getByRole('link', { name: 'Buy Now' })
  expect(await button.getAttribute('href')).toBe(`/buy-now?product=${productSlug(products[1])}`)
  expect(await button.isVisible()).toBe(true)
  expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44)
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
