/*
 * How a form is sent, from the first click on. A page is usable before its scripts are loaded, and scripts may never come.
 *
 * - `byScripts`: the scripts send it. So it is unless something else is set here.
 * - `held`: it was submitted before its scripts were loaded. It is submitted once when they are, or posted by the browser
 *   when they are late. Other submits meanwhile do nothing. A button that was clicked early is held, too.
 * - `byBrowser`: its scripts did not come. The browser posts it, and every later try: the scripts never send it again.
 */
type FormState = 'byScripts' | 'held' | 'byBrowser'

const states = new WeakMap<EventTarget, FormState>()

export function formState(target: EventTarget): FormState {
  return states.get(target) ?? 'byScripts'
}

export function setFormState(target: EventTarget, state: FormState): void {
  states.set(target, state)
}

/** The browser sends the form and shows the page that answers. */
export function postByBrowser(form: HTMLFormElement): void {
  setFormState(form, 'byBrowser')
  if (!form.isConnected) {
    form.hidden = true // React has made a new form; this one can only be sent from within the document
    document.body.append(form)
  }
  form.submit()
}
