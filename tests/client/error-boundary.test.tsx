import { expect, it, vi } from 'vitest'
import { page } from 'vitest/browser'
import { hydrate } from '../../client/hydrate.tsx'

it('a part that throws leaves the error page and a way home', async () => {
  vi.spyOn(console, 'error').mockReturnValue() // it is told there
  document.body.innerHTML = `<div id="root"><h1>Quvera</h1><div data-island="mechanism" data-props='{"slides":"broken on purpose"}'></div></div>`
  await hydrate()
  await expect.element(page.getByRole('heading')).toHaveTextContent('Unexpected Application Error!')
  await expect.element(page.getByRole('link', { name: 'Back to the home page' })).toHaveAttribute('href', '/')
  vi.restoreAllMocks()
})
