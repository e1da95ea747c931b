// The pages are complete HTML. React is loaded after the page, or at the first touch. This script runs while the page is
// still being parsed.
const HEADER_SCROLL_PX = 200
const HYDRATION_DELAY_MS = 200
const HYDRATION_TIMEOUT_MS = 4500
const touches = ['pointerdown', 'focusin', 'keydown']
const page = document.documentElement

let started: Promise<unknown> | undefined

/** Never rejects. On success `data-hydrated` is set. */
function start() {
  started ??= import('./hydrate.tsx')
    .then((code) => code.hydrate())
    .catch(() => {
      started = undefined // the next touch tries again
    })
  return started
}

function watchScroll() {
  page.toggleAttribute('data-moved', scrollY > 0)
  page.toggleAttribute('data-scrolled', scrollY >= HEADER_SCROLL_PX)
}

// Forms and buttons used before hydration. Each is submitted or clicked again once, after it.
const waiting = new Set<EventTarget>()

function waitForReact(event: Event) {
  if (page.hasAttribute('data-hydrated') || !(event.target instanceof Element)) return
  const target = event.target.closest('form, button[type=button]:not([popovertarget], [commandfor])')
  if (!(target instanceof HTMLElement) || target instanceof HTMLFormElement !== (event.type === 'submit')) return
  if ('native' in target.dataset) return
  event.preventDefault()
  if (waiting.has(target)) return
  waiting.add(target)
  const button = target.querySelector('button.button')
  button?.setAttribute('aria-disabled', 'true') // as React marks it while it sends
  function repeat() {
    clearTimeout(timer)
    if (!(target instanceof HTMLElement) || !waiting.delete(target)) return
    button?.setAttribute('aria-disabled', 'false')
    if (page.hasAttribute('data-hydrated') && target.isConnected) {
      if (target instanceof HTMLFormElement) target.requestSubmit()
      else target.click()
    } else if (target instanceof HTMLFormElement) sendNatively(target)
  }
  const timer = setTimeout(repeat, HYDRATION_TIMEOUT_MS)
  start().then(repeat)
}

/** The browser posts the form and shows the page that answers. Later tries of this form go the same way: it stays one order. */
function sendNatively(form: HTMLFormElement) {
  if (!navigator.onLine) return alert(form.dataset.offline)
  form.dataset.native = ''
  if (!form.isConnected) {
    form.hidden = true // React has replaced it by an empty one
    document.body.append(form)
  }
  form.submit()
}

/** A form posted by the browser repeats the key that enquiry/send-order.ts kept, as its order may be stored already. */
function addKey({ target, formData }: FormDataEvent) {
  try {
    const { key } = JSON.parse(sessionStorage['submission-key'])
    if ((target as Element).id === 'order') formData.append('submissionKey', key) // after the key in the page, which counts first
  } catch {
    // No key is kept, or the browser refuses storage.
  }
}

function whenLoaded() {
  watchScroll() // reading scrollY earlier would force a layout
  setTimeout(start, HYDRATION_DELAY_MS)
}

for (const type of touches) addEventListener(type, start)
for (const type of ['submit', 'click']) addEventListener(type, waitForReact, true)
addEventListener('formdata', addKey)
addEventListener('scroll', watchScroll)

if (document.readyState === 'complete') whenLoaded()
else addEventListener('load', whenLoaded)
