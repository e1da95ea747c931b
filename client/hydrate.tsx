import { StrictMode } from 'react'
import { flushSync } from 'react-dom'
import { hydrateRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { pageAt } from './pages/pages.tsx'

const root = document.getElementById('root')
if (root) {
  // Handlers are in place when this module has run: `main.ts` then repeats what it held.
  flushSync(() => {
    hydrateRoot(
      root,
      <StrictMode>
        <App page={pageAt(location.pathname)} />
      </StrictMode>,
    )
  })
  document.documentElement.toggleAttribute('data-hydrated', true)
}
