// A click opens the list of products on a wide screen, and a click, Escape or Tab closes the list.
// On a phone the menu fills the screen, and its close icon or a link to a page closes the menu.
import { expect, it } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { buyNow } from '../../client/content/enquiry-form.ts'
import { Header } from '../../client/layout/header.tsx'
import { enableMenus } from '../../client/layout/menus.ts'
import { brand } from '../../shared/brand.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { render } from '../support/render.tsx'

function renderHeader(path: string) {
  render(
    <header className="site-header">
      <Header path={path} />
    </header>,
  )
  enableMenus()
}

it('on a wide screen a click on Products opens a list of them, and a click, Escape, a click elsewhere and Tab close it', async () => {
  await page.viewport(1440, 900)
  renderHeader('/')
  const button = page.getByRole('button', { name: 'Products' })
  const isOpen = () => document.querySelector('.products-menu')?.matches(':popover-open')
  expect(isOpen()).toBe(false)
  await button.click()
  for (const product of products)
    await expect.element(page.getByRole('link', { name: product })).toHaveAttribute('href', productPath(product))
  await userEvent.tab()
  expect(document.querySelector('.products-menu')?.contains(document.activeElement)).toBe(true)
  for (const close of [
    () => button.click(),
    () => userEvent.keyboard('{Escape}'),
    () => userEvent.click(document.body, { position: { x: 20, y: 500 } }),
  ]) {
    expect(isOpen()).toBe(true)
    await close()
    expect(isOpen()).toBe(false)
    await button.click()
  }
  for (const _ of ['', ...products]) await userEvent.tab()
  expect(document.activeElement?.textContent).toBe('Contact Us')
  expect(isOpen()).toBe(false)
})

it('on a phone the menu icon shows a list over the whole screen, which its close icon and a link hide', async () => {
  await page.viewport(360, 740)
  renderHeader('/buy-now')
  const open = () => page.getByRole('button', { name: 'Menu' }).click()
  const menu = page.getByRole('dialog')
  await open()
  await expect.element(menu).toBeVisible()
  const { width, height } = menu.element().getBoundingClientRect()
  expect([width, height]).toEqual([360, 740])
  const links = menu.getByRole('link').elements()
  const names = links.map((link) => link.textContent)
  expect(names.slice(0, products.length + 3)).toEqual(['Home', ...products, 'Contact Us', buyNow.title])
  await page.getByRole('button', { name: 'Close' }).click()
  await expect.element(menu).not.toBeInTheDocument()
  await open()
  document.querySelector('.site-header')?.addEventListener('click', (event) => event.preventDefault())
  for (const name of [brand.phone, brand.email]) await menu.getByRole('link', { name }).click()
  await expect.element(menu).toBeVisible() // a call or a mail does not leave the page
  await menu.getByRole('link', { name: 'Contact Us' }).click()
  await expect.element(menu).not.toBeInTheDocument()
})
