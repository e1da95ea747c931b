// The pages are complete HTML. Controls are loaded after the page, or at the first interaction; React is loaded for a form
// once somebody touches it. This script may run while the page is still being parsed.
import { RECEIVED_PATH } from '../shared/form-outcome.ts'
import { holdState, postByBrowser, setHoldState } from './enquiry/hold-state.ts'
import { addKey, readStoredKey, writeStoredKey } from './enquiry/submission-key.ts'
import type { IslandName } from './ui/island.tsx'

const HEADER_SCROLL_PX = 200
const CONTROLS_DELAY_MS = 200
const HOLD_TIMEOUT_MS = 4500
const interactions = ['pointerdown', 'focusin', 'keydown']
const root = document.documentElement

let started: Promise<unknown> | undefined

/** Never rejects. On success `data-ready` is set. */
function start() {
  started ??= import('./controls.ts')
    .then((code) => code.startControls())
    .catch(() => {
      started = undefined // the next interaction tries again
    })
  return started
}

const components: Record<IslandName, () => Promise<unknown>> = {
  order: async () => {
    import('./enquiry/order-sender.tsx').catch(() => {}) // needed soon; the form asks for it again
    return (await import('./enquiry/order-form.tsx')).OrderSection
  },
  subscribe: async () => (await import('./hydrate.tsx')).SubscribeForm,
}
const hydrations = new Map<HTMLElement, Promise<unknown>>()

/** Never rejects. On success the island has `data-hydrated`. */
function hydrate(island: HTMLElement) {
  let hydration = hydrations.get(island)
  if (!hydration) {
    hydration = Promise.all([import('./hydrate.tsx'), components[island.dataset.island as IslandName]()])
      .then(([code, part]) => code.hydrateIsland(island, part))
      .catch(() => hydrations.delete(island)) // the next interaction tries again
    hydrations.set(island, hydration)
  }
  return hydration
}

const islandOf = (target: EventTarget | null) => (target as Element).closest?.<HTMLElement>('[data-island]')

function loadTouched({ target }: Event) {
  start()
  const island = islandOf(target)
  if (island) hydrate(island)
}

function watchScroll() {
  root.toggleAttribute('data-scrolled', scrollY >= HEADER_SCROLL_PX)
}

/** Holds a form until React hydrates it, then submits it once. If React fails or makes a new form, the browser posts it. */
function holdForm(event: Event) {
  const form = event.target as HTMLFormElement
  const island = islandOf(form)
  if (!island || holdState(form) === 'byBrowser') return
  const isReady = () => island.hasAttribute('data-hydrated')
  function resend() {
    if (isReady() && form.isConnected) form.requestSubmit()
    else if (navigator.onLine) postByBrowser(form)
    else alert(form.dataset.offline)
  }
  if (!isReady()) hold(event, form, () => hydrate(island), resend)
}

/** Holds a button until there are controls. Then it is clicked once. */
function holdButton(event: Event) {
  if (!(event.target instanceof Element)) return
  const button = event.target.closest<HTMLElement>('button[type=button]')
  if (!button || hasNativeBehaviour(button)) return
  const isReady = () => root.hasAttribute('data-ready')
  if (!isReady()) hold(event, button, start, () => isReady() && button.isConnected && button.click())
}

/** Stops an event whose handler is not loaded yet. Calls `resend` once: when `load` has ended, or after HOLD_TIMEOUT_MS. */
function hold(event: Event, target: HTMLElement, load: () => Promise<unknown>, resend: () => void) {
  event.preventDefault()
  event.stopImmediatePropagation() // React may handle it already
  if (holdState(target) === 'held') return
  setHoldState(target, 'held')
  const submitButton = target.querySelector('button.button')
  submitButton?.setAttribute('aria-disabled', 'true') // as React marks it while it sends
  function release() {
    clearTimeout(timer)
    if (holdState(target) !== 'held') return
    setHoldState(target, 'byScripts')
    submitButton?.setAttribute('aria-disabled', 'false')
    resend()
  }
  const timer = setTimeout(release, HOLD_TIMEOUT_MS)
  load().then(release)
}

/** A button of the menus, in a browser that knows its attribute. */
function hasNativeBehaviour(target: HTMLElement) {
  return (
    (target.hasAttribute('popovertarget') && 'popoverTargetElement' in target) ||
    (target.hasAttribute('commandfor') && 'commandForElement' in target)
  )
}

/** Chromium changes a focused number when the wheel is turned over it. Without the focus the page scrolls instead. */
function keepNumber({ target }: Event) {
  const field = document.activeElement as HTMLInputElement
  if (field !== target || field.type !== 'number') return
  field.blur()
  requestAnimationFrame(() => field.focus({ preventScroll: true }))
}

function whenLoaded() {
  watchScroll() // reading scrollY earlier would force a layout
  setTimeout(start, CONTROLS_DELAY_MS)
}

// The reference of the order that the browser posted is shown, and the next order gets a new key. The key of an order that
// scripts sent stays: its answer may have been lost.
if (location.pathname === RECEIVED_PATH && readStoredKey()?.isPosted) writeStoredKey(null)
for (const type of interactions) addEventListener(type, loadTouched)
addEventListener('submit', holdForm, true)
addEventListener('click', holdButton, true)
addEventListener('formdata', addKey)
addEventListener('scroll', watchScroll)
addEventListener('wheel', keepNumber) // on the window it is passive without being told

if (document.readyState === 'complete') whenLoaded()
else addEventListener('load', whenLoaded)
