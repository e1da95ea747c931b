// The pages are complete HTML. React arrives once a page has loaded, or sooner if somebody touches it. This script
// is run as soon as it is there, so that no layout waits for it: the document may not be whole yet.
const HEADER_SCROLL_PX = 200
const HYDRATION_DELAY_MS = 200
const HOLD_MS = 4500
const touches = ['pointerdown', 'focusin', 'keydown']
const page = document.documentElement

let started: Promise<unknown> | undefined

/** Never fails: whether React is there then is told by `data-hydrated`. */
function start() {
  started ??= import('./hydrate.tsx')
    .then((code) => code.hydrate()) // taken apart here it would cost thirty bytes
    .catch(() => {
      started = undefined // the next touch tries again
    })
  return started
}

function watchScroll() {
  page.toggleAttribute('data-moved', scrollY > 0)
  page.toggleAttribute('data-scrolled', scrollY >= HEADER_SCROLL_PX)
}

// What is sent or clicked before React is there is held, and done once as soon as it is.
const held = new Set<EventTarget>()

function hold(event: Event) {
  if (page.hasAttribute('data-hydrated') || !(event.target instanceof Element)) return
  const target = event.target.closest('form, button[type=button]:not([popovertarget], [commandfor])')
  if (!(target instanceof HTMLElement) || target instanceof HTMLFormElement !== (event.type === 'submit')) return
  if ('native' in target.dataset) return
  event.preventDefault()
  if (held.has(target)) return
  held.add(target)
  const button = target.querySelector('button.button')
  button?.setAttribute('aria-disabled', 'true') // it was heard: as React shows it while it sends
  function release() {
    clearTimeout(timer)
    if (!(target instanceof HTMLElement) || !held.delete(target)) return
    button?.setAttribute('aria-disabled', 'false')
    if (page.hasAttribute('data-hydrated') && target.isConnected) {
      if (target instanceof HTMLFormElement) target.requestSubmit()
      else target.click()
    } else if (target instanceof HTMLFormElement) sendNatively(target)
  }
  const timer = setTimeout(release, HOLD_MS)
  start().then(release)
}

/** Without React the browser sends the form, and a page answers: from then on always, so that it stays one order. */
function sendNatively(form: HTMLFormElement) {
  if (!navigator.onLine) return alert(form.dataset.offline)
  form.dataset.native = ''
  if (!form.isConnected) {
    form.hidden = true // React has put another in its place, without what was typed
    document.body.append(form)
  }
  form.submit()
}

/** What may be stored already is sent natively under its key too: enquiry/send-order.ts keeps it. */
function addKey({ target, formData }: FormDataEvent) {
  try {
    const { key } = JSON.parse(sessionStorage['submission-key'])
    if ((target as Element).id === 'order') formData.append('submissionKey', key) // one in the page comes first
  } catch {
    // None is kept, or storage is refused.
  }
}

function whenLoaded() {
  watchScroll() // not sooner: it would have the page laid out in the task of this script
  setTimeout(start, HYDRATION_DELAY_MS)
}

for (const type of touches) addEventListener(type, start)
for (const type of ['submit', 'click']) addEventListener(type, hold, true)
addEventListener('formdata', addKey)
addEventListener('scroll', watchScroll)

if (document.readyState === 'complete') whenLoaded()
else addEventListener('load', whenLoaded)
