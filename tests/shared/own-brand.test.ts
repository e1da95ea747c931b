// The pages are built with whatever characters an owner's phone number has, and without a newsletter where there is none.
import { globSync, readFileSync } from 'node:fs'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, it, vi } from 'vitest'
import { products } from '../../shared/catalogue.ts'

afterEach(() => vi.resetModules())

it('a phone number with brackets is a link', async () => {
  vi.resetModules()
  const { brand } = await import('../../shared/brand.ts')
  const phone = '+91 (11) 4000 0300'
  Object.assign(brand, { phone })
  const { Linked } = await import('../../client/ui/text.tsx')
  const html = renderToStaticMarkup(Linked({ children: `Call ${phone}.` }))
  expect(html).toBe(`Call <a href="tel:+91(11)40000300">${phone}</a>.`)
})

it('the tests take the names of the products from the catalogue, so that they hold for another brand', () => {
  const files = globSync('tests/{shared,server,client,e2e,support}/**/*.{ts,tsx}').filter(
    (file) => !file.endsWith('content.test.ts'), // which repeats the owner's texts
  )
  expect(files.length).toBeGreaterThan(100)
  const naming = files.filter((file) => products.some((product) => readFileSync(file, 'utf8').includes(product)))
  expect(naming).toEqual([])
})

it('a name with a long word is set smaller', async () => {
  vi.resetModules()
  const { Logo } = await import('../../client/ui/logo.tsx')
  for (const [name, isSmaller] of [
    ['Vitalis', false],
    ['Sun Wellness', true],
  ] as const)
    expect(renderToStaticMarkup(Logo({ name })).includes('data-long="true"'), name).toBe(isSmaller)
})

it.each([true, false])('with brand.newsletter %s the footer and the privacy policy follow', async (newsletter) => {
  vi.resetModules()
  const { brand } = await import('../../shared/brand.ts')
  Object.assign(brand, { newsletter })
  const { Footer } = await import('../../client/layout/footer.tsx')
  const { policySections } = await import('../../client/content/privacy-policy.ts')
  const footer = Footer({ path: '/', product: undefined, hasSubscribeForm: true, refused: undefined })
  for (const said of [renderToStaticMarkup(footer), JSON.stringify(policySections)])
    expect(/subscri|newsletter/i.test(said)).toBe(newsletter)
})
