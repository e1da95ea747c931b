/*
 * How a form is sent, from the first click on. A page is usable before its scripts are loaded, and scripts may never come.
 *
 * - `byScripts`: our scripts send it. It has this state before the first submit, and again after `held`.
 * - `held`: it was submitted before its scripts were loaded. Once they are, it is submitted once; if they are late, the
 *   browser posts it. Other submits meanwhile do nothing. main.ts uses this state for buttons too.
 * - `byBrowser`: its scripts did not come, or the server answered 400 to them. The browser posts it, also at later tries.
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
