import { type ReactNode, StrictMode, startTransition, useEffect } from 'react'
import { App } from './app.tsx'
import { loadPage } from './pages/load-page.ts'

/** When it resolves, handlers are in place: `main.ts` then repeats what it held. */
export async function hydrate() {
  // A task for each: this script's evaluation, the requests for the page, the evaluation of React.
  await nextTask()
  const page = await loadPage(location.pathname)
  await nextTask()
  const { hydrateRoot } = await import('react-dom/client')
  await wholeDocument()
  const root = document.getElementById('root')
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

function nextTask() {
  return new Promise((resolve) => setTimeout(resolve))
}

async function wholeDocument() {
  if (document.readyState !== 'loading') return
  await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve, { once: true }))
}

function Announce({ done, children }: { done: () => void; children: ReactNode }) {
  useEffect(done, [done])
  return children
}
