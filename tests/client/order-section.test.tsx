// A visitor whose order was received sees product, quantity and next steps, and can go on to WhatsApp.
import { beforeEach, expect, it } from 'vitest'
import { page } from 'vitest/browser'
import { buyNow, enquiryReceived, nextSteps } from '../../client/content/enquiry-form.ts'
import { OrderSection } from '../../client/enquiry/order-form.tsx'
import { setCurrentKey } from '../../client/enquiry/send-order.ts'
import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { network } from '../support/fake-fetch.ts'
import { typedOrder } from '../support/fill-order.ts'
import { render } from '../support/render.tsx'

beforeEach(() => {
  network.reset()
  setCurrentKey(null)
})

it('an order received changes the heading, ticks the first of the steps, and says what was asked', async () => {
  const place = render(<OrderSection path="/buy-now" isPage />)
  const heading = () => page.getByRole('heading', { level: 1 }).element().textContent
  const ticked = () =>
    [...place.querySelectorAll('.steps li')].map((step) => getComputedStyle(step, '::before').content)
  expect(heading()).toBe(buyNow.title)
  const before = ticked()

  const typed = { ...typedOrder, quantity: '2', retailerSelfUse: 'Self Use' }
  for (const [name, value] of Object.entries(typed)) {
    const field = page.elementLocator(input(place, name))
    if (input(place, name) instanceof HTMLSelectElement) await field.selectOptions(value)
    else await field.fill(value)
  }
  await page.getByRole('button', { name: 'Send enquiry' }).click()

  await expect.element(page.getByRole('row', { name: `Product ${products[0]}` })).toBeVisible()
  await expect.element(page.getByRole('row', { name: 'Quantity 2' })).toBeVisible()
  const reference = place.querySelector('.reference')?.textContent
  const chat = new URL(page.getByRole('link', { name: 'Continue on WhatsApp' }).element().getAttribute('href') ?? '')
  expect(chat.origin + chat.pathname).toBe(`https://wa.me/${brand.whatsapp.replace(/\D/g, '')}`)
  expect([...chat.searchParams]).toEqual([['text', `Enquiry ${reference}: 2 × ${products[0]}`]])
  expect(heading()).toBe(enquiryReceived.heading)
  expect(`${enquiryReceived.lead} ${place.querySelector('.steps')?.textContent}`).not.toMatch(/e-?mail|inbox|copy/i)
  expect(place.querySelectorAll('.steps')).toHaveLength(1)
  expect(ticked()).toHaveLength(nextSteps.length)
  expect(ticked()[0]).not.toBe(before[0])
  expect(ticked().slice(1)).toEqual(before.slice(1))
  await page.getByRole('button', { name: 'Send another enquiry' }).click()
  expect(heading()).toBe(buyNow.title)
  expect(ticked()).toEqual(before)
})

function input(place: HTMLElement, name: string) {
  return place.querySelector(`#order [name=${name}]`) as HTMLElement
}
