// The pages are complete HTML. Controls are loaded after the page, or at the first interaction; React is loaded for a form
// once somebody touches it. This script may run while the page is still being parsed.
import { RECEIVED_PATH } from '../shared/form-outcome.ts'
import { FORM_REPEAT_MS } from '../shared/submission-key.ts'
import { createKeyRecord, readKey, storeKey } from './enquiry/submission-key.ts'
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

// Forms used before their island is hydrated, and buttons used before there are controls. Then each is submitted or clicked once.
const held = new Set<EventTarget>()

function holdEarly(event: Event) {
  if (!(event.target instanceof Element)) return
  const target = event.target.closest<HTMLElement>('form, button[type=button]')
  const isForm = target instanceof HTMLFormElement
  if (!target || isForm !== (event.type === 'submit') || 'native' in target.dataset || hasNativeBehaviour(target))
    return
  const island = islandOf(target)
  if (isForm && !island) return
  const isReady = () => (isForm ? island?.hasAttribute('data-hydrated') : root.hasAttribute('data-ready'))
  if (isReady()) return
  event.preventDefault()
  event.stopImmediatePropagation() // React may handle it already
  if (held.has(target)) return
  held.add(target)
  const button = target.querySelector('button.button')
  button?.setAttribute('aria-disabled', 'true') // as React marks it while it sends
  function releaseHeld() {
    clearTimeout(timer)
    if (!target || !held.delete(target)) return
    button?.setAttribute('aria-disabled', 'false')
    if (isReady() && target.isConnected) {
      if (isForm) target.requestSubmit()
      else target.click()
    } else if (isForm) submitNatively(target)
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

/** The browser sends the form and shows the page that answers, now and at every later try. */
function submitNatively(form: HTMLFormElement) {
  if (!navigator.onLine) return alert(form.dataset.offline)
  form.dataset.native = ''
  if (!form.isConnected) {
    form.hidden = true // React has made a new form; this one can only be sent from within the document
    document.body.append(form)
  }
  form.submit()
}

/**
 * Adds the submission key to an order that the browser sends: the stored one, or a new one, which is stored. The next try,
 * with scripts or without, has the same key. Without one the server makes a content key.
 */
function addKey({ target, formData }: FormDataEvent) {
  const { id, dataset } = target as HTMLElement
  if (id !== 'order' || !('native' in dataset)) return
  const given = formData.get('submissionKey') // of a page that answered a failure
  // A page that came by http has no randomUUID.
  const kept = (!given && readKey()) || createKeyRecord(String(given ?? crypto.randomUUID?.() ?? ''))
  if (kept.key && storeKey({ ...kept, maybeStored: true, sentByBrowser: true })) formData.set('submissionKey', kept.key)
}

/** Runs on the page that confirms an order: the same order sent more than ten minutes later is a new one. */
function expireKey() {
  const kept = readKey()
  if (kept?.sentByBrowser) storeKey({ ...kept, expiresAt: Math.min(kept.expiresAt, Date.now() + FORM_REPEAT_MS) })
}

function whenLoaded() {
  watchScroll() // reading scrollY earlier would force a layout
  setTimeout(start, CONTROLS_DELAY_MS)
}

if (location.pathname === RECEIVED_PATH) expireKey()
for (const type of interactions) addEventListener(type, loadTouched)
for (const type of ['submit', 'click']) addEventListener(type, holdEarly, true)
addEventListener('formdata', addKey)
addEventListener('scroll', watchScroll)

if (document.readyState === 'complete') whenLoaded()
else addEventListener('load', whenLoaded)
