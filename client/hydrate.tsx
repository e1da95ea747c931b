import { type ReactNode, StrictMode, startTransition, useEffect } from 'react'
import { App } from './app.tsx'
import { loadPage } from './pages/load-page.ts'

/** When it resolves, handlers are in place: `main.ts` then repeats what it held. */
export async function hydrate() {
  const root = document.getElementById('root')
  const page = await loadPage(location.pathname)
  // Evaluating React is the longest task there is, so it gets one of its own.
  await new Promise((resolve) => setTimeout(resolve))
  const { hydrateRoot } = await import('react-dom/client')
  if (!root || document.documentElement.hasAttribute('data-hydrated')) return
  const hydrated = Promise.withResolvers<void>()
  // As a transition it is done in small steps, between which the browser answers touches and paints.
  startTransition(() => {
    hydrateRoot(
      root,
      <StrictMode>
        <Announce done={hydrated.resolve}>
          <App page={page} />
        </Announce>
      </StrictMode>,
    )
  })
  await hydrated.promise
  document.documentElement.toggleAttribute('data-hydrated', true)
}

function Announce({ done, children }: { done: () => void; children: ReactNode }) {
  useEffect(done, [done])
  return children
}
