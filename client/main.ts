// The pages are complete HTML. React is loaded after the page, or at the first interaction. This script may run while the page
// is still being parsed.
import { RECEIVED_PATH } from '../shared/form-outcome.ts'
import { formState, postByBrowser, setFormState } from './enquiry/form-state.ts'
import { addKey, storeKey } from './enquiry/submission-key.ts'

const HEADER_SCROLL_PX = 200
const HYDRATION_DELAY_MS = 200
const HYDRATION_TIMEOUT_MS = 4500
const interactions = ['pointerdown', 'focusin', 'keydown']
const root = document.documentElement

let started: Promise<unknown> | undefined

/** Never rejects. On success `data-hydrated` is set. */
function start() {
  started ??= import('./hydrate.tsx')
    .then((code) => code.hydrate())
    .catch(() => {
      started = undefined // the next interaction tries again
    })
  return started
}

function watchScroll() {
  root.toggleAttribute('data-scrolled', scrollY >= HEADER_SCROLL_PX)
}

/** Holds a form or button that is used before hydration. After hydration it is submitted or clicked once. */
function holdUntilHydrated(event: Event) {
  if (root.hasAttribute('data-hydrated') || !(event.target instanceof Element)) return
  const target = event.target.closest('form, button[type=button]')
  if (!(target instanceof HTMLElement) || target instanceof HTMLFormElement !== (event.type === 'submit')) return
  if (target instanceof HTMLFormElement && !target.closest('[data-island]')) return // no script is for it
  if (formState(target) === 'byBrowser' || hasNativeBehaviour(target)) return
  event.preventDefault()
  event.stopImmediatePropagation() // React may handle it already
  if (formState(target) === 'held') return
  setFormState(target, 'held')
  const button = target.querySelector('button.button')
  button?.setAttribute('aria-disabled', 'true') // as React marks it while it sends
  function releaseHeld() {
    clearTimeout(timer)
    if (!(target instanceof HTMLElement) || formState(target) !== 'held') return
    setFormState(target, 'byScripts')
    button?.setAttribute('aria-disabled', 'false')
    if (root.hasAttribute('data-hydrated') && target.isConnected) {
      if (target instanceof HTMLFormElement) target.requestSubmit()
      else target.click()
    } else if (target instanceof HTMLFormElement) {
      if (navigator.onLine) postByBrowser(target)
      else alert(target.dataset.offline)
    }
  }
  const timer = setTimeout(releaseHeld, HYDRATION_TIMEOUT_MS)
  start().then(releaseHeld)
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
  setTimeout(start, HYDRATION_DELAY_MS)
}

if (location.pathname === RECEIVED_PATH) storeKey(null) // the visitor sees the reference: the next order has a new key
for (const type of interactions) addEventListener(type, start)
for (const type of ['submit', 'click']) addEventListener(type, holdUntilHydrated, true)
addEventListener('formdata', addKey)
addEventListener('scroll', watchScroll)

if (document.readyState === 'complete') whenLoaded()
else addEventListener('load', whenLoaded)
