import { productSlug } from '../../shared/catalogue.ts'
import { receivedUrl } from '../../shared/form-outcome.ts'
import { sentReferences } from './order-key.ts'
import { readDraft, restoreDraft } from './tab-storage.ts'

/** The parameters of a link to the form: `?product=quvera-xt`, `?for=retailer`. */
const PARAMETERS = { products: 'product', retailerSelfUse: 'for' }

/**
 * Fills empty fields before React comes: first by what the link names, then from the draft. Earlier than both are the values
 * of a page that answers a post, and what the browser itself restores. Without scripts nothing is selected: a built page is
 * the same file whatever the query says.
 */
export function prefill(): void {
  const form = document.querySelector<HTMLFormElement>('#order')
  if (!form) return
  for (const { choice, wanted } of linkedChoices(form)) if (wanted) choice.value ||= wanted
  restoreDraft(form)
  showChosen(form)
  form.addEventListener('change', () => showChosen(form))
  showSent()
}

/** What a link has chosen in the form. */
export function chosenByLink(form: HTMLFormElement): string {
  const chosen = linkedChoices(form).filter(({ choice, wanted }) => choice.value === wanted)
  return chosen.at(-1)?.wanted ?? ''
}

function linkedChoices(form: HTMLFormElement) {
  const query = new URLSearchParams(location.search)
  return Object.entries(PARAMETERS).map(([name, parameter]) => {
    const choice = form.elements.namedItem(name) as HTMLSelectElement
    const options = [...choice.options].map(({ value }) => value)
    return { choice, wanted: options.find((value) => value && productSlug(value) === query.get(parameter)) }
  })
}

/** Once React is there, it says so from its state. */
function showChosen(form: HTMLFormElement) {
  const note = document.querySelector<HTMLElement>('[data-chosen]')
  if (!note || form.closest('[data-hydrated]')) return
  const chosen = chosenByLink(form)
  note.textContent = chosen && chosen + note.dataset.chosen
}

function showSent() {
  const note = document.querySelector<HTMLElement>('[data-sent]')
  const references = sentReferences()
  if (!note || references.length === 0) return
  const links = references.map((reference, index) => {
    const link = document.createElement('a')
    return [index > 0 ? ', ' : '', Object.assign(link, { href: receivedUrl(reference), textContent: reference })]
  })
  note.replaceChildren(note.dataset.sent ?? '', ...links.flat())
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (navigation?.type !== 'reload' || readDraft()) return
  history.scrollRestoration = 'manual' // where the confirmation was, there may be no word of it
  note.scrollIntoView({ block: 'nearest' })
}
