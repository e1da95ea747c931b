// Exactly one indication card of a product page is open, whatever is clicked, and only the open card shows its text.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { page } from 'vitest/browser'
import { content as quvera300 } from '../../client/content/products/300.ts'
import { content as quveraXt } from '../../client/content/products/xt.ts'
import { openClickedIndication } from '../../client/product/indication-cards.ts'
import { Indications } from '../../client/product/indications.tsx'
import { render } from '../support/render.tsx'

beforeAll(async () => {
  await page.viewport(1440, 900)
  addEventListener('click', openClickedIndication)
})
afterAll(() => removeEventListener('click', openClickedIndication))

const open = () =>
  [...document.querySelectorAll('.indication button[aria-expanded=true]')].map((button) => button.textContent)

it.each([
  [quvera300, 5],
  [quveraXt, 6],
])('exactly one card is open, whatever is clicked', async (content, count) => {
  const titles = Object.values(content.indications.cards).map(({ title }) => title)
  const [first, other = ''] = [titles[0], titles.at(-1)]
  const place = render(<Indications {...content.indications} />)
  expect(place.querySelectorAll('.indication')).toHaveLength(count)
  expect(open()).toEqual([first])
  await page.getByRole('button', { name: other }).click()
  await expect.poll(open).toEqual([other]) // on wide screens a frame later, in a view transition
  await page.getByRole('button', { name: other }).click()
  await expect.poll(open).toEqual([other])
})

it('the open card of a stage takes the full width and shows its text', async () => {
  const place = render(<Indications {...quveraXt.indications} />)
  const list = place.querySelector('.indications')?.getBoundingClientRect()
  const card = place.querySelector('.indication[data-open=true]')?.getBoundingClientRect()
  expect(card?.width).toBeCloseTo(list?.width ?? 0, 0)
  const [open, closed] = [...place.querySelectorAll('.indication-body')]
  await expect.poll(() => open?.checkVisibility({ visibilityProperty: true })).toBe(true)
  expect(closed?.checkVisibility({ visibilityProperty: true })).toBe(false)
})
