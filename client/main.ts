import { speculationRules } from '../shared/speculation-rules.ts'

// The pages are complete HTML. React arrives once a page has loaded, or sooner if somebody touches it. This script
// is run as soon as it is there, so that no layout waits for it: the document may not be whole yet.
const HEADER_SCROLL_PX = 200
const HYDRATION_DELAY_MS = 200
const touches = ['pointerdown', 'focusin', 'keydown']
const page = document.documentElement

let started: Promise<unknown> | undefined

function start() {
  started ??= import('./hydrate.tsx')
    .then(({ hydrate }) => hydrate())
    .catch(() => {
      started = undefined // the next touch tries again
    })
  return started
}

function watchScroll() {
  page.toggleAttribute('data-scrolled', scrollY >= HEADER_SCROLL_PX)
}

// What is sent or clicked before React is there is held, and done once as soon as it is.
const held = new Set<EventTarget>()

function hold(event: Event) {
  if (page.hasAttribute('data-hydrated') || !(event.target instanceof Element)) return
  const target = event.target.closest('form, button[type=button]:not([popovertarget], [commandfor])')
  if (!target || target instanceof HTMLFormElement !== (event.type === 'submit')) return
  event.preventDefault()
  if (held.has(target)) return
  held.add(target)
  start().then(() => {
    held.delete(target)
    if (!page.hasAttribute('data-hydrated')) return
    if (target instanceof HTMLFormElement) target.requestSubmit()
    else if (target instanceof HTMLElement) target.click()
  })
}

function prefetchOnIntent() {
  const script = document.createElement('script')
  script.type = 'speculationrules'
  script.textContent = speculationRules
  document.head.append(script)
}

function whenLoaded() {
  watchScroll() // not sooner: it would have the page laid out in the task of this script
  setTimeout(start, HYDRATION_DELAY_MS)
  prefetchOnIntent()
}

for (const type of touches) addEventListener(type, start, { passive: true })
for (const type of ['submit', 'click']) addEventListener(type, hold, { capture: true })
addEventListener('scroll', watchScroll, { passive: true })

if (document.readyState === 'complete') whenLoaded()
else addEventListener('load', whenLoaded, { once: true })
