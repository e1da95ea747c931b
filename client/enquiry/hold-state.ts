/*
 * How a form is sent, from the first click on. A page is usable before its scripts are loaded, and scripts may never come.
 *
 * - `byScripts`, the default, also while they are still loading: our scripts send it.
 * - `held`: it was submitted before its scripts were loaded. It is submitted once when they are, or posted by the browser
 *   when they are late. Other submits meanwhile do nothing. A `button[type=button]` is held too, if it
 *   was clicked before controls.ts was loaded.
 * - `byBrowser`: its scripts did not come. The browser posts it, and every later try: the scripts never send it again.
 */
type HoldState = 'byScripts' | 'held' | 'byBrowser'

const states = new WeakMap<EventTarget, HoldState>()

export function holdState(target: EventTarget): HoldState {
  return states.get(target) ?? 'byScripts'
}

export function setHoldState(target: EventTarget, state: HoldState): void {
  states.set(target, state)
}

/** The browser sends the form and shows the page that answers. */
export function postByBrowser(form: HTMLFormElement): void {
  setHoldState(form, 'byBrowser')
  if (!form.isConnected) {
    form.hidden = true // React has made a new form; this one can only be sent from within the document
    document.body.append(form)
  }
  form.submit()
}
