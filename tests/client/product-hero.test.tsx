import { afterAll, expect, it } from 'vitest'
import { page } from 'vitest/browser'
import { compositions } from '../../client/content/compositions.ts'
import { content } from '../../client/content/products/xt.ts'
import { ProductHero } from '../../client/product/product-hero.tsx'
import { Logo } from '../../client/ui/logo.tsx'
import { brand } from '../../shared/brand.ts'
import type { Product } from '../../shared/catalogue.ts'
import { render } from '../support/render.tsx'

afterAll(() => page.viewport(1280, 900))

it.each([320, 390, 600, 900, 1280])('a name as long as its type allows fits, %d px wide', async (width) => {
  await page.viewport(width, 900)
  const product = `${brand.name} Immunityplus` as Product
  Object.assign(compositions, { [product]: {} })
  const place = render(<ProductHero content={{ ...content, product }} />)
  const [name, text] = ['h1 span', '.product-text'].map((selector) => place.querySelector(selector))
  expect(name?.textContent).toHaveLength(12)
  expect(name?.scrollWidth).toBeLessThanOrEqual(text?.clientWidth ?? 0)
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(width)
})

it('a name in type instead of a drawing is not underlined where it is a link', () => {
  const place = render(
    <a href="/" className="logo-link">
      <Logo name="Vitalis" />
    </a>,
  )
  expect(getComputedStyle(place.querySelector('a') as Element).textDecorationLine).toBe('none')
})
