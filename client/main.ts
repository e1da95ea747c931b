// The pages are complete HTML. This script moves menus, tabs and cards, and loads React for a form once somebody touches it.
// Until React has a form, the browser posts it. The script may run while the page is still being parsed.

import { RECEIVED_PATH } from '../shared/form-outcome.ts'
import { handleClicks, startControls } from './controls.ts'
import { focusNextField } from './enquiry/next-field.ts'
import { addKey, finishPostedOrder, mayBeStored } from './enquiry/order-key.ts'
import { readDraft, saveDraft } from './enquiry/tab-storage.ts'
import type { IslandName } from './ui/island.tsx'

const HEADER_SCROLL_PX = 200
const root = document.documentElement

const components: Record<IslandName, () => Promise<unknown>> = {
  order: async () => (await import('./enquiry/order-form.tsx')).OrderSection,
  subscribe: async () => (await import('./newsletter/subscribe-form.tsx')).SubscribeForm,
}
const touched = new Set<HTMLElement>()

/** Not of a link: React would draw it anew under the finger, and the press would be lost. */
function hydrateTouched({ target }: Event) {
  const part = (target as Element).closest?.<HTMLElement>('a, [data-island]')
  if (part?.dataset.island) hydrate(part)
}

/** On success the island has `data-hydrated`. If a script does not come, the browser posts the form. */
async function hydrate(island: HTMLElement) {
  if (touched.has(island)) return
  touched.add(island)
  try {
    const part = components[island.dataset.island as IslandName]()
    const { hydrateIsland } = await import('./hydrate.tsx')
    await hydrateIsland(island, await part)
  } catch {
    touched.delete(island) // the next touch tries again
  }
}

/**
 * The next touch may be the button of a form that is filled in already, or whose order may be stored. What a link has chosen
 * shows in the slip, which React fills.
 */
function hydrateUnfinished() {
  const island = document.querySelector<HTMLElement>('[data-island=order]')
  const isChosen = island?.querySelector('[data-chosen]:not(:empty)')
  if (island && (isChosen || readDraft() || mayBeStored())) hydrate(island)
}

/** React has not taken this submit: the browser posts the form, and from here on React leaves the form to it. */
function postByBrowser(event: SubmitEvent) {
  const form = event.target as HTMLFormElement
  if (event.defaultPrevented || !form.dataset.offline) return
  if (navigator.onLine) return void form.toggleAttribute('data-posted', true)
  event.preventDefault()
  alert(form.dataset.offline)
}

/** Chromium changes a focused number when the wheel is turned over it. Without the focus the page scrolls instead. */
function keepNumber({ target }: Event) {
  const field = document.activeElement as HTMLInputElement
  if (field !== target || field.type !== 'number') return
  field.blur()
  requestAnimationFrame(() => field.focus({ preventScroll: true }))
}

let lastScrollY = 0

function watchScroll() {
  root.toggleAttribute('data-scrolled', scrollY >= HEADER_SCROLL_PX)
  root.toggleAttribute('data-down', scrollY > lastScrollY)
  lastScrollY = scrollY
}

/** Fetches the scripts of the order form, which run once it is touched. */
function prefetchScripts() {
  const { connection } = navigator as Navigator & { connection?: { saveData: boolean } }
  const scripts = document.querySelector<HTMLElement>('[data-scripts]')?.dataset.scripts
  if (!scripts || connection?.saveData) return
  for (const href of scripts.split(' '))
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }))
}

/** An address of that page may also lead to one that says that there is no such enquiry. */
function endPosted() {
  const reference = location.pathname === RECEIVED_PATH && document.querySelector('.received .reference')?.textContent
  if (reference) finishPostedOrder(reference)
}

function whenParsed() {
  endPosted()
  startControls()
  root.toggleAttribute('data-ready', true)
  hydrateUnfinished()
}

function whenLoaded() {
  watchScroll() // reading scrollY earlier would force a layout
  const whenIdle = window.requestIdleCallback ?? setTimeout // Safari has none
  whenIdle(prefetchScripts)
  // The server sets data-vitals. Without the script only measurements are missing.
  if (root.dataset.vitals === 'on') import('./web-vitals.ts').catch(() => undefined)
}

for (const type of ['pointerdown', 'focusin', 'keydown']) addEventListener(type, hydrateTouched)
addEventListener('submit', postByBrowser)
addEventListener('formdata', addKey)
document.addEventListener('visibilitychange', saveDraft)
addEventListener('click', handleClicks)
addEventListener('keydown', focusNextField)
addEventListener('scroll', watchScroll)
addEventListener('wheel', keepNumber) // on the window it is passive without being told

if (document.readyState === 'loading') addEventListener('DOMContentLoaded', whenParsed)
else whenParsed()
if (document.readyState === 'complete') whenLoaded()
else addEventListener('load', whenLoaded)
