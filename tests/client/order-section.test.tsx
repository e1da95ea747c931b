// The slip fills as one types. Once the order is received it is the confirmation, with what was asked for and what comes next.
import { beforeEach, expect, it } from 'vitest'
import { page } from 'vitest/browser'
import { buyNow, enquiryReceived } from '../../client/content/enquiry-form.ts'
import { OrderSection } from '../../client/enquiry/order-form.tsx'
import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { nextSteps } from '../../shared/next-steps.ts'
import { network } from '../support/fake-fetch.ts'
import { typedOrder } from '../support/fill-order.ts'
import { render } from '../support/render.tsx'

beforeEach(() => {
  network.reset()
  sessionStorage.clear()
})

it('an order received changes the heading, ticks the first of the steps, and says what was asked', async () => {
  // The page of a refusal, which holds the key of its order.
  const answer = { values: {}, firstError: '', fieldErrors: {}, note: undefined, submissionKey: crypto.randomUUID() }
  const place = render(<OrderSection path="/buy-now" answer={answer} isPage />)
  const heading = () => page.getByRole('heading', { level: 1 }).element().textContent
  const ticked = () =>
    [...place.querySelectorAll('.steps li')]
      .filter((step) => step.checkVisibility())
      .map((step) => getComputedStyle(step, '::before').content)
  expect(heading()).toBe(buyNow.title)
  const before = ticked()
  for (const [name, value] of Object.entries({ ...typedOrder, quantity: '2' })) {
    const field = page.elementLocator(input(place, name))
    if (input(place, name) instanceof HTMLSelectElement) await field.selectOptions(value)
    else await field.fill(value)
  }
  await page.getByRole('button', { name: 'Send enquiry' }).click()

  for (const row of [`Product ${products[0]}`, 'Quantity 2 packs', 'Your number +91 98765 43210'])
    await expect.element(page.getByRole('row', { name: row })).toBeVisible()
  expect(network.sent[0]?.submissionKey).toBe(answer.submissionKey)
  await expect.poll(() => document.title).toContain(enquiryReceived.title) // after it is painted
  const reference = place.querySelector('.reference')?.textContent
  const shared = page.getByRole('button', { name: 'Share' }).element() as HTMLElement
  expect(shared.dataset.share).toBe(`Enquiry ${reference}: 2 × ${products[0]}. ${brand.company}, ${brand.phone}`)
  expect(page.getByRole('link', { name: 'Ask on WhatsApp' }).elements()).toHaveLength(brand.whatsapp ? 1 : 0)
  expect(heading()).toBe(enquiryReceived.heading)
  expect(`${enquiryReceived.lead} ${place.querySelector('.received .steps')?.textContent}`).not.toMatch(
    /e-?mail|inbox|copy/i,
  )
  expect(ticked()).toHaveLength(nextSteps.length)
  expect(ticked()[0]).not.toBe(before[0])
  expect(ticked().slice(1)).toEqual(before.slice(1))
  await page.getByRole('button', { name: 'Send another enquiry' }).click()
  expect(heading()).toBe(buyNow.title)
  expect(document.title).not.toMatch(/^Order Received/)
  expect(ticked()).toEqual(before)
})

it('the slip shows what is typed, the number in groups, and what was chosen before', async () => {
  const place = render(<OrderSection path="/buy-now" isPage />)
  const slip = () =>
    Object.fromEntries(
      [...place.querySelectorAll('.slip tr')].map((row) => [...row.children].map((cell) => cell.textContent)),
    )
  expect(slip()).toEqual({ Product: '', Quantity: '', From: '', 'Your number': '', 'Your mail': '' })
  await page.elementLocator(input(place, 'products')).selectOptions(products[1])
  await page.elementLocator(input(place, 'quantity')).fill('24')
  await page.elementLocator(input(place, 'name')).fill('Asha Verma')
  await page.elementLocator(input(place, 'retailerSelfUse')).selectOptions('Retailer')
  await page.elementLocator(input(place, 'mobile')).fill('+91 ९८७६५43')
  await page.elementLocator(input(place, 'email')).fill('asha@shop.example')
  await expect.poll(slip).toEqual({
    Product: products[1],
    Quantity: '24 packs',
    From: 'Asha Verma, Retailer',
    'Your number': '+91 ९८७६५43',
    'Your mail': 'asha@shop.example',
  })
  await page.elementLocator(input(place, 'mobile')).fill('+91 ९८७६५43210')
  await expect.poll(() => slip()['Your number']).toBe('+91 98765 43210')
})

function input(place: HTMLElement, name: string) {
  return place.querySelector(`#order [name=${name}]`) as HTMLElement
}
