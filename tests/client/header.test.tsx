import { beforeEach, describe, expect, it } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { Header } from '../../client/layout/header.tsx'
import { productPath, products } from '../../shared/catalogue.ts'
import { render } from '../support/render.tsx'

const inPlace = (path: string) => (
  <header className="site-header">
    <Header path={path} />
  </header>
)

describe('on a wide screen', () => {
  beforeEach(async () => {
    await page.viewport(1440, 900)
    render(inPlace('/'))
  })

  const button = () => page.getByRole('button', { name: 'Products' })
  const link = () => page.getByRole('link', { name: products[1] })

  it('Products opens and closes a list of them', async () => {
    await expect.element(button()).toHaveAttribute('aria-expanded', 'false')
    await button().click()
    await expect.element(button()).toHaveAttribute('aria-expanded', 'true')
    await expect.element(link()).toHaveAttribute('href', productPath(products[1]))
    await expect.element(page.getByRole('link', { name: products[0] })).toBeVisible()
    await button().click()
    await expect.element(button()).toHaveAttribute('aria-expanded', 'false')
    await expect.element(link()).not.toBeInTheDocument()
  })

  it('Escape and a click elsewhere close it', async () => {
    await button().click()
    await userEvent.keyboard('{Escape}')
    await expect.element(button()).toHaveAttribute('aria-expanded', 'false')
    await button().click()
    await userEvent.click(document.body, { position: { x: 20, y: 500 } })
    await expect.element(button()).toHaveAttribute('aria-expanded', 'false')
  })
})

describe('on a phone', () => {
  beforeEach(async () => {
    await page.viewport(360, 740)
    render(inPlace('/buy-now'))
  })

  it('the menu icon shows a list over the whole screen, the close icon hides it', async () => {
    await page.getByRole('button', { name: 'Menu' }).click()
    const menu = page.getByRole('dialog')
    await expect.element(menu).toBeVisible()
    const { width, height } = menu.element().getBoundingClientRect()
    expect([width, height]).toEqual([360, 740])
    const names = menu
      .getByRole('link')
      .elements()
      .map((link) => link.textContent)
    expect(names.slice(0, products.length + 3)).toEqual(['Home', ...products, 'Contact Us', 'Buy Now'])
    await page.getByRole('button', { name: 'Close' }).click()
    await expect.element(menu).not.toBeInTheDocument()
  })
})
