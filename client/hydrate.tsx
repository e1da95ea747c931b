import { type ComponentType, createElement, type ReactNode, StrictMode, startTransition, useLayoutEffect } from 'react'
import { createRoot, hydrateRoot, type Root } from 'react-dom/client'
import { brand } from '../shared/brand.ts'
import { telephone } from './content/contact.ts'
import { SubscribeForm } from './enquiry/subscribe-form.tsx'
import { Header } from './layout/header.tsx'
import type { IslandName } from './ui/island.tsx'

/** What each page has is here; the others come with the pages that have them. */
const parts: Record<IslandName, () => unknown> = {
  contents: async () => (await import('./product/contents.tsx')).Contents,
  header: () => Header,
  indications: async () => (await import('./product/indications.tsx')).Indications,
  mechanism: async () => (await import('./product/mechanism.tsx')).Mechanism,
  order: async () => (await import('./enquiry/order-form.tsx')).OrderSection,
  subscribe: () => SubscribeForm,
}

/** When it resolves, handlers are in place: `main.ts` then repeats what it held. */
export async function hydrate() {
  await wholeDocument()
  const islands = [...document.querySelectorAll<HTMLElement>('[data-island]')]
  const loaded = await Promise.all(islands.map(({ dataset }) => parts[dataset.island as IslandName]()))
  if (document.documentElement.hasAttribute('data-hydrated')) return
  await Promise.all(islands.map((island, index) => bringToLife(island, loaded[index] as ComponentType)))
  for (const act of [printSheet, copyReference]) addEventListener('click', act)
  setYear()
  document.documentElement.toggleAttribute('data-hydrated', true)
  if (document.documentElement.dataset.vitals === 'on') import('./vitals.ts').catch(() => undefined) // nothing on the page needs it
}

const alive = new Set<Root>()

async function bringToLife(island: HTMLElement, part: ComponentType) {
  const content = createElement(part, JSON.parse(island.dataset.props ?? '{}'))
  const fields = fieldsOf(island)
  const focused = fields.indexOf(document.activeElement as HTMLInputElement)
  await new Promise<void>((done) => {
    let root: Root
    function live() {
      alive.add(root)
      const now = fieldsOf(island)
      if (fields.some((field) => !now.includes(field))) copyTyped(fields, now, focused)
      done()
    }
    function fail(error: unknown) {
      console.error(error)
      for (const root of alive) root.unmount() // an order under way ends with its form: nobody would see what became of it
      createRoot(document.getElementById('root') ?? document.body).render(
        <ErrorPage {...document.documentElement.dataset} />,
      )
      done()
    }
    // As a transition it is done in small steps, between which the browser answers touches and paints.
    startTransition(() => {
      root = hydrateRoot(
        island,
        <StrictMode>
          <Announce done={live}>{content}</Announce>
        </StrictMode>,
        { onUncaughtError: fail },
      )
    })
  })
}

function fieldsOf(island: HTMLElement) {
  return [...island.querySelectorAll<HTMLInputElement>('[name]')]
}

/** What a translation tool has changed before React came, React draws anew (its error 418): what was typed goes along. */
function copyTyped(from: HTMLInputElement[], to: HTMLInputElement[], focused: number) {
  to.forEach((field, index) => {
    field.value = from[index]?.value ?? field.value
  })
  to[focused]?.focus({ preventScroll: true })
}

/** Shown in place of everything when a part throws. */
function ErrorPage({ reference }: { reference?: string }) {
  return (
    <main className="page-top lost-page wrap">
      <div className="lost-text">
        <h1>Unexpected Application Error!</h1>
        <p className="lead">
          Something went wrong on our side. Please reload the page, or call <a href={telephone}>{brand.phone}</a>.
        </p>
        {reference && (
          <p className="lead">
            Your enquiry is received. Your reference: <strong>{reference}</strong>
          </p>
        )}
        <a href="/" className="button">
          Back to the home page
        </a>
      </div>
    </main>
  )
}

/** One sheet of paper, for its button: print.css leaves out what is not for a physician. */
function printSheet({ target }: MouseEvent) {
  if (!(target as Element).closest('.sheet-button')) return
  const page = document.documentElement
  page.toggleAttribute('data-sheet', true)
  const today = page.querySelector('[data-today]')
  if (today) today.textContent = new Date().toLocaleDateString('en-IN', { dateStyle: 'long' })
  addEventListener('afterprint', () => page.removeAttribute('data-sheet'), { once: true })
  print()
}

/** Where the clipboard is refused, as on a page without TLS, the reference is selected. */
async function copyReference({ target }: MouseEvent) {
  const button = (target as Element).closest('.copy-button')
  const reference = button?.previousElementSibling
  if (!button || !reference) return
  try {
    await navigator.clipboard.writeText(reference.textContent)
    button.textContent = 'Copied'
  } catch {
    getSelection()?.selectAllChildren(reference)
  }
}

/** The page holds the year in which it was built. */
function setYear() {
  const year = document.querySelector('[data-year]')
  if (year) year.textContent = String(new Date().getFullYear())
}

async function wholeDocument() {
  if (document.readyState !== 'loading') return
  await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve))
}

function Announce({ done, children }: { done: () => void; children: ReactNode }) {
  useLayoutEffect(done, [done])
  return children
}
