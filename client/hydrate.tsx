import { type ComponentType, createElement, type ReactNode, StrictMode, startTransition, useLayoutEffect } from 'react'
import { createRoot, hydrateRoot, type Root } from 'react-dom/client'
import { brand } from '../shared/brand.ts'
import { telephone } from './content/contact.ts'
import { setFormState } from './enquiry/form-state.ts'
import { SubscribeForm } from './enquiry/subscribe-form.tsx'
import { enableMenus } from './layout/header.tsx'
import { markCurrentSection } from './product/contents.tsx'
import type { IslandName } from './ui/island.tsx'
import { backHome, MessagePage } from './ui/message-page.tsx'

/** The subscribe form, which nearly every page has, is bundled here. The others are loaded by the pages that have them. */
const components: Record<IslandName, () => unknown> = {
  indications: async () => (await import('./product/indications.tsx')).Indications,
  mechanism: async () => (await import('./product/mechanism.tsx')).Mechanism,
  order: async () => (await import('./enquiry/order-form.tsx')).OrderSection,
  subscribe: () => SubscribeForm,
}

/** Resolves when all handlers are attached. */
export async function hydrate() {
  if (document.readyState === 'loading')
    await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve))
  enableMenus()
  markCurrentSection()
  const islands = [...document.querySelectorAll<HTMLElement>('[data-island]')]
  const loaded = await Promise.allSettled(
    islands.map(async ({ dataset }) => components[dataset.island as IslandName]()),
  )
  // An island whose script is missing, as after an update of the site, does not keep the others from working.
  // The browser posts its form.
  async function hydrateIfLoaded(island: HTMLElement, index: number) {
    const part = loaded[index]
    if (part?.status === 'fulfilled') await hydrateIsland(island, part.value as ComponentType)
    else for (const form of island.querySelectorAll('form')) setFormState(form, 'byBrowser')
  }
  await Promise.all(islands.map(hydrateIfLoaded))
  for (const act of [printSheet, copyReference]) addEventListener('click', act)
  const year = document.querySelector('[data-year]') // the built page has the year of the build
  if (year) year.textContent = String(new Date().getFullYear())
  document.documentElement.toggleAttribute('data-hydrated', true)
  // The server sets data-vitals. Without the script only measurements are missing.
  if (document.documentElement.dataset.vitals === 'on') import('./web-vitals.ts').catch(() => undefined)
}

const roots = new Set<Root>()

async function hydrateIsland(island: HTMLElement, part: ComponentType) {
  const content = createElement(part, JSON.parse(island.dataset.props ?? '{}'))
  const fields = fieldsOf(island)
  const focused = fields.indexOf(document.activeElement as HTMLInputElement)
  await new Promise<void>((done) => {
    let root: Root
    function onMounted() {
      roots.add(root)
      const now = fieldsOf(island)
      if (fields.some((field) => !now.includes(field))) copyTyped(fields, now, focused)
      done()
    }
    function fail(error: unknown) {
      console.error(error)
      for (const root of roots) root.unmount() // also stops an order that is being sent: its result could not be shown
      createRoot(document.getElementById('root') ?? document.body).render(
        <ErrorPage reference={document.documentElement.dataset.reference} />,
      )
      done()
    }
    // A transition hydrates in small steps and leaves the browser time to paint.
    startTransition(() => {
      root = hydrateRoot(
        island,
        <StrictMode>
          <AfterMount done={onMounted}>{content}</AfterMount>
        </StrictMode>,
        { onUncaughtError: fail },
      )
    })
  })
}

function fieldsOf(island: HTMLElement) {
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
          Something went wrong on our side. Please reload the page, or call <a href={telephone}>{brand.phone}</a>.
        </p>
        {reference && (
          <p className="lead">
            Your enquiry is received. Your reference: <strong>{reference}</strong>
          </p>
        )}
        {backHome}
      </MessagePage>
    </main>
  )
}

/** Prints one sheet for a physician: print.css hides the rest of the page. */
function printSheet({ target }: MouseEvent) {
  if (!(target as Element).closest('.sheet-button')) return
  const page = document.documentElement
  page.toggleAttribute('data-sheet', true)
  const today = page.querySelector('[data-today]')
  if (today) today.textContent = new Date().toLocaleDateString('en-IN', { dateStyle: 'long' })
  addEventListener('afterprint', () => page.removeAttribute('data-sheet'), { once: true })
  print()
}

/** Selects the reference where the clipboard is not available, as on a page without TLS. */
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

function AfterMount({ done, children }: { done: () => void; children: ReactNode }) {
  useLayoutEffect(done, [done])
  return children
}
