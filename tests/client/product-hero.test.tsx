// A long product name and a third product fit the layout, at every width.
import { afterAll, expect, it } from 'vitest'
import { page } from 'vitest/browser'
import { compositions } from '../../client/content/compositions.ts'
import { content } from '../../client/content/products/xt.ts'
import { Comparison } from '../../client/pages/home-page.tsx'
import { ProductHero } from '../../client/product/product-hero.tsx'
import { brand } from '../../shared/brand.ts'
import { type Product, products } from '../../shared/catalogue.ts'
import { findBrokenWords } from '../support/broken-words.ts'
import { render } from '../support/render.tsx'

afterAll(() => page.viewport(1280, 900))

const product = `${brand.name} Immunityplus Support Formula` as Product
const WIDTHS = [320, 360, 390, 600, 900, 1280]

it('a name with as long a word as a product may have fits, at every width', async () => {
  Object.assign(compositions, { [product]: {} })
  const place = render(<ProductHero content={{ ...content, product }} />)
  const [name, text] = ['h1 span', '.product-text'].map((selector) => place.querySelector(selector) as Element)
  expect(name?.textContent).toHaveLength(12)
  const letters = document.createRange()
  letters.selectNodeContents(name as Element)
  for (const width of WIDTHS) {
    await page.viewport(width, 900)
    expect(letters.getClientRects(), `${width} px`).toHaveLength(1)
    expect(letters.getBoundingClientRect().right).toBeLessThanOrEqual(text?.getBoundingClientRect().right ?? 0)
    expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(width)
  }
})

it('three products are compared side by side, at every width but the narrowest, and no word is broken', async () => {
  const third = `${brand.name} Immunity Support Formula` as Product
  Object.assign(compositions, { [third]: compositions[products[0]] })
  const place = render(<Comparison of={[...products.slice(0, 2), third]} />)
  expect(place.querySelectorAll('thead th')).toHaveLength(4)
  for (const width of WIDTHS.slice(1)) {
    await page.viewport(width, 900)
    const [table, wrap] = ['table', '.wrap'].map((selector) => place.querySelector(selector)?.getBoundingClientRect())
    expect(table?.right, `${width} px`).toBeLessThanOrEqual((wrap?.right ?? 0) - 16) // its margin
    expect(findBrokenWords([place], /\S+/g), `${width} px`).toEqual([])
    expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(width)
  }
})
