// A part of a page that throws leaves an error page with a link home, and an order keeps its key for a repeat.
import { renderToString } from 'react-dom/server'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { OrderSection } from '../../client/enquiry/order-form.tsx'
import { mayBeStored, startTry } from '../../client/enquiry/order-key.ts'
import { hydrateIsland } from '../../client/hydrate.tsx'
import { SubscribeForm } from '../../client/newsletter/subscribe-form.tsx'
import { Island } from '../../client/ui/island.tsx'
import { network, received } from '../support/fake-fetch.ts'
import { typedOrder } from '../support/fill-order.ts'

const BROKEN = `<div data-island="order" data-props='{"answer":{"note":7}}'></div>`

function hydrateAll(parts: Record<string, unknown>) {
  const islands = [...document.querySelectorAll<HTMLElement>('[data-island]')]
  return Promise.all(islands.map((island) => hydrateIsland(island, parts[island.dataset.island ?? ''])))
}

beforeEach(() => void vi.spyOn(console, 'error').mockReturnValue()) // it is told there
afterEach(() => void vi.restoreAllMocks())

it('a part that throws leaves the error page and a way home', async () => {
  const subscribe = renderToString(<Island name="subscribe" of={SubscribeForm} props={{ path: '/' }} />)
  document.body.innerHTML = `<div id="root"><h1>Quvera</h1>${BROKEN}${BROKEN}${subscribe}</div>`
  await hydrateAll({ order: OrderSection, subscribe: SubscribeForm })
  await expect.element(page.getByRole('heading')).toHaveTextContent('Unexpected Application Error!')
  await expect.element(page.getByRole('link', { name: 'Back to the home page' })).toHaveAttribute('href', '/')
})

it('an order that is under way ends, and sent again it is the same one: nobody would see that it was received', async () => {
  network.reset()
  sessionStorage.clear()
  const answer = Promise.withResolvers<Response>()
  network.answers = [answer.promise]
  const order = renderToString(<Island name="order" of={OrderSection} props={{ path: '/buy-now', isPage: true }} />)
  document.body.innerHTML = `<div id="root">${order}</div>`
  await hydrateAll({ order: OrderSection })
  for (const [name, value] of Object.entries(typedOrder)) {
    const field = document.querySelector(`[name=${name}]`) as HTMLElement
    await (field instanceof HTMLSelectElement ? userEvent.selectOptions(field, value) : userEvent.fill(field, value))
  }
  await userEvent.click(page.getByRole('button', { name: 'Send enquiry' }))
  await expect.poll(() => network.sent.length).toBe(1)

  document.querySelector('[data-island]')?.removeAttribute('data-island')
  document.getElementById('root')?.insertAdjacentHTML('beforeend', BROKEN)
  await hydrateAll({ order: OrderSection })
  await expect.element(page.getByRole('heading')).toHaveTextContent('Unexpected Application Error!')
  await expect.element(page.getByText(/it may have reached us/)).toBeVisible()
  answer.resolve(received('QV-234567'))
  await new Promise((done) => setTimeout(done)) // a received order forgets its key in a task of its own
  expect(mayBeStored()).toBe(true)
  expect(startTry(typedOrder.products).key).toBe(network.sent[0]?.submissionKey)
})
