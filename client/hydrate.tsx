import { StrictMode } from 'react'
import { flushSync } from 'react-dom'
import { hydrateRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { loadPage } from './pages/load-page.ts'

/** When it resolves, handlers are in place: `main.ts` then repeats what it held. */
export async function hydrate() {
  const root = document.getElementById('root')
  const page = await loadPage(location.pathname)
  if (!root || document.documentElement.hasAttribute('data-hydrated')) return
  flushSync(() => {
    hydrateRoot(
      root,
      <StrictMode>
        <App page={page} />
      </StrictMode>,
    )
  })
  document.documentElement.toggleAttribute('data-hydrated', true)
}
