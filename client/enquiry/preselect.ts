import { productSlug } from '../../shared/catalogue.ts'
import { receivedUrl } from '../../shared/form-outcome.ts'

const STORE = 'sent-reference'

/**
 * Selects what a link to the form names, `?product=quvera-xt` or `?for=retailer`, unless the visitor has chosen, and says so
 * under the title. Without scripts nothing is selected: a built page is the same file whatever the query says.
 */
export function preselect(): void {
  const query = new URLSearchParams(location.search)
  select('products', query.get('product'))
  select('retailerSelfUse', query.get('for'))
  const sent = showSent()
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (!sent || navigation?.type !== 'reload') return
  history.scrollRestoration = 'manual' // where the confirmation was, there may be no word of it
  sent.scrollIntoView({ block: 'nearest' })
}

function select(field: string, wanted: string | null) {
  const choice = document.querySelector<HTMLSelectElement>(`#order [name=${field}]`)
  if (!choice || choice.value) return
  const option = [...choice.options].find(({ value }) => productSlug(value) === wanted)
  if (!option) return
  choice.value = option.value
  noteChoice(choice)
}

/** Says under the title what is chosen, until something else is. */
export function noteChoice(choice: HTMLSelectElement): void {
  const note = document.querySelector<HTMLElement>('[data-chosen]')
  if (!note) return
  note.textContent = `${choice.value}${note.dataset.chosen}`
  choice.addEventListener('change', () => note.replaceChildren(), { once: true })
}

/** For this tab, so that a reload does not lose it. */
export function keepReference(reference: string): void {
  try {
    sessionStorage.setItem(STORE, reference)
  } catch {
    // The browser refuses storage.
  }
}

/** Leads to the enquiry that this tab has sent last. @returns where it says so */
export function showSent(): HTMLElement | undefined {
  const note = document.querySelector<HTMLElement>('[data-sent]')
  const reference = readReference()
  if (!note || !reference) return undefined
  const link = document.createElement('a')
  link.href = receivedUrl(reference)
  link.textContent = reference
  note.replaceChildren(note.dataset.sent ?? '', link)
  return note
}

function readReference(): string | null {
  try {
    return sessionStorage.getItem(STORE)
  } catch {
    return null
  }
}
