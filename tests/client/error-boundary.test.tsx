import { expect, it, vi } from 'vitest'
import { page } from 'vitest/browser'
import { ErrorBoundary } from '../../client/layout/error-boundary.tsx'
import { render } from '../support/render.tsx'

function Broken(): never {
  throw new Error('Broken on purpose')
}

it('a component that throws leaves the error page and a way home', async () => {
  vi.spyOn(console, 'error').mockReturnValue() // React reports what the boundary caught
  render(
    <ErrorBoundary>
      <Broken />
    </ErrorBoundary>,
  )
  await expect.element(page.getByRole('heading', { name: 'Unexpected Application Error!' })).toBeVisible()
  await expect.element(page.getByRole('link', { name: 'Back to the home page' })).toHaveAttribute('href', '/')
  vi.restoreAllMocks()
})
