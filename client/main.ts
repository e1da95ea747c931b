// The pages are complete HTML. Controls are loaded after the page, or at the first interaction; React is loaded for a form
// once somebody touches it. This script may run while the page is still being parsed.
import { RECEIVED_PATH } from '../shared/form-outcome.ts'
import { formState, postByBrowser, setFormState } from './enquiry/form-state.ts'
import { addKey, storeKey } from './enquiry/submission-key.ts'
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

/** Holds a form until its island is hydrated, and a button until there are controls. Then it is submitted or clicked once. */
function holdEarly(event: Event) {
  if (!(event.target instanceof Element)) return
  const target = event.target.closest<HTMLElement>('form, button[type=button]')
  const isForm = target instanceof HTMLFormElement
  if (!target || isForm !== (event.type === 'submit')) return
  if (formState(target) === 'byBrowser' || hasNativeBehaviour(target)) return
  const island = islandOf(target)
  if (isForm && !island) return
  const isReady = () => (isForm ? island?.hasAttribute('data-hydrated') : root.hasAttribute('data-ready'))
  if (isReady()) return
  event.preventDefault()
  event.stopImmediatePropagation() // React may handle it already
  if (formState(target) === 'held') return
  setFormState(target, 'held')
  const button = target.querySelector('button.button')
  button?.setAttribute('aria-disabled', 'true') // as React marks it while it sends
  function releaseHeld() {
    clearTimeout(timer)
    if (!target || formState(target) !== 'held') return
    setFormState(target, 'byScripts')
    button?.setAttribute('aria-disabled', 'false')
    if (isReady() && target.isConnected) {
      if (isForm) target.requestSubmit()
      else target.click()
    } else if (isForm) {
      if (navigator.onLine) postByBrowser(target)
      else alert(target.dataset.offline)
    }
  }
  const timer = setTimeout(releaseHeld, HOLD_TIMEOUT_MS)
  const code = isForm && island ? hydrate(island) : start()
  code.then(releaseHeld)
}

/** A button of the menus, in a browser that knows its attribute. */
function hasNativeBehaviour(target: HTMLElement) {
  return (
    (target.hasAttribute('popovertarget') && 'popoverTargetElement' in target) ||
    (target.hasAttribute('commandfor') && 'commandForElement' in target)
  )
}

function whenLoaded() {
  watchScroll() // reading scrollY earlier would force a layout
  setTimeout(start, CONTROLS_DELAY_MS)
}

if (location.pathname === RECEIVED_PATH) storeKey(null) // the visitor sees the reference: the next order has a new key
for (const type of interactions) addEventListener(type, loadTouched)
for (const type of ['submit', 'click']) addEventListener(type, holdEarly, true)
addEventListener('formdata', addKey)
addEventListener('scroll', watchScroll)

if (document.readyState === 'complete') whenLoaded()
else addEventListener('load', whenLoaded)
