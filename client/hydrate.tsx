import { type ReactNode, StrictMode, startTransition, useEffect } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { type FormAnswer, FormAnswerContext } from './enquiry/form-answer.ts'
import smallHeadings from './fonts/fraunces-small.woff2?url'
import { loadPage } from './pages/load-page.ts'

/** When it resolves, handlers are in place: `main.ts` then repeats what it held. */
export async function hydrate() {
  await wholeDocument()
  const said = document.getElementById('form-answer')?.textContent // by the server, if it answers a form
  const page = await loadPage(location.pathname, said !== undefined)
  const answer: FormAnswer = JSON.parse(said ?? '{}')
  const root = document.getElementById('root')
  if (!root || document.documentElement.hasAttribute('data-hydrated')) return
  await new Promise<void>((done) => {
    // As a transition it is done in small steps, between which the browser answers touches and paints.
    startTransition(() => {
      hydrateRoot(
        root,
        <StrictMode>
          <Announce done={done}>
            <FormAnswerContext value={answer}>
              <App page={page} />
            </FormAnswerContext>
          </Announce>
        </StrictMode>,
      )
    })
  })
  document.documentElement.toggleAttribute('data-hydrated', true)
  addSmallHeadings()
    .then(() => document.documentElement.dataset.vitals === 'on' && import('./vitals.ts'))
    .catch(() => undefined) // headings stay in the large drawing
}

/**
 * Headings under 32 px are drawn for their size; `font-weight: 500` asks for it. Until then, and without scripts, they
 * are in the large drawing: a phone on a slow network sees the first screen 150 ms sooner.
 */
async function addSmallHeadings() {
  const face = new FontFace('Fraunces', `url(${smallHeadings})`, { weight: '500' })
  document.fonts.add(await face.load()) // once it is there: else the headings fall back while it is under way
}

async function wholeDocument() {
  if (document.readyState !== 'loading') return
  await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve))
}

function Announce({ done, children }: { done: () => void; children: ReactNode }) {
  useEffect(done, [done])
  return children
}
