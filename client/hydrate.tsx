import { type ComponentType, createElement, type ReactNode, startTransition, useLayoutEffect } from 'react'
import { createRoot, hydrateRoot, type Root } from 'react-dom/client'
import { brand } from '../shared/brand.ts'
import { telephone } from './content/contact.ts'
import { mayBeStored, sentReferences } from './enquiry/order-key.ts'
import { backHome, MessagePage } from './ui/message-page.tsx'

const roots = new Set<Root>()

/** Resolves when all handlers are attached. Then the island has `data-hydrated`. A form that the browser is sending stays its. */
export async function hydrateIsland(island: HTMLElement, part: unknown): Promise<void> {
  if (document.readyState === 'loading')
    await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve))
  if (island.querySelector('[data-posted]')) return
  const content = createElement(part as ComponentType, JSON.parse(island.dataset.props ?? '{}'))
  const fields = namedInputs(island)
  const focused = fields.indexOf(document.activeElement as HTMLInputElement)
  await new Promise<void>((done) => {
    let root: Root
    function onMounted() {
      roots.add(root)
      const now = namedInputs(island)
      const wasRenderedAnew = fields.some((field) => !now.includes(field))
      if (wasRenderedAnew) copyTyped(fields, now, focused)
      island.toggleAttribute('data-hydrated', true)
      done()
    }
    function fail(error: unknown) {
      console.error(error)
      for (const each of roots) each.unmount() // which stops an order under way: its result could not be shown
      createRoot(document.getElementById('root') ?? document.body).render(
        <ErrorPage reference={mayBeStored() ? undefined : sentReferences().at(-1)} />,
      )
      done()
    }
    // A transition hydrates in small steps and leaves the browser time to paint.
    startTransition(() => {
      root = hydrateRoot(island, <AfterMount done={onMounted}>{content}</AfterMount>, { onUncaughtError: fail })
    })
  })
}

function namedInputs(island: HTMLElement) {
  return [...island.querySelectorAll<HTMLInputElement>('[name]')]
}

/** React renders an island anew if a translation tool changed its texts (error 418). This keeps what was typed. */
function copyTyped(from: HTMLInputElement[], to: HTMLInputElement[], focused: number) {
  to.forEach((field, index) => {
    field.value = from[index]?.value ?? field.value
  })
  to[focused]?.focus({ preventScroll: true })
}

/** Replaces the page when an island throws. */
function ErrorPage({ reference }: { reference: string | undefined }) {
  return (
    <main>
      <MessagePage title="Unexpected Application Error!">
        <p className="lead">
          Please reload the page, or call <a href={telephone}>{brand.phone}</a>.
        </p>
        <p className="lead">
          {reference
            ? 'Your last enquiry is received. Its reference: '
            : 'If you were sending an enquiry, it may have reached us. Sent again unchanged in this tab, it counts only once.'}
          <strong>{reference}</strong>
        </p>
        {backHome}
      </MessagePage>
    </main>
  )
}

function AfterMount({ done, children }: { done: () => void; children: ReactNode }) {
  useLayoutEffect(done, [done])
  return children
}
