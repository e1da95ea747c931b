// The pages are built with whatever characters an owner's phone number has.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, it, vi } from 'vitest'

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
