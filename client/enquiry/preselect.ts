import { productSlug } from '../../shared/catalogue.ts'
import { receivedUrl } from '../../shared/form-outcome.ts'

/** Nothing else of an address gets into the page. */
const REFERENCE = /^[A-Z]{1,5}-[A-Z0-9]{6}$/

/**
 * Selects what a link to the form names, `?product=quvera-xt` or `?for=retailer`, unless the visitor has chosen, and says so
 * under the title; and leads to the enquiry that was sent before a reload, `?reference=QV-7K3M9P`. Without scripts nothing is
 * selected: a built page is the same file whatever the query says.
 */
export function preselect(): void {
  const query = new URLSearchParams(location.search)
  select('products', query.get('product'))
  select('retailerSelfUse', query.get('for'))
  showSent(query.get('reference') ?? '')
}

function showSent(reference: string) {
  const note = document.querySelector<HTMLElement>('.chosen')
  if (!note || !REFERENCE.test(reference)) return
  const link = document.createElement('a')
  link.href = receivedUrl(reference)
  link.textContent = reference
  note.replaceChildren(note.dataset.sent ?? '', link)
  history.scrollRestoration = 'manual' // else it may lie beyond the edge
  note.scrollIntoView({ block: 'nearest' })
}

function select(field: string, wanted: string | null) {
  const choice = document.querySelector<HTMLSelectElement>(`#order [name=${field}]`)
  if (!choice || choice.value) return
  const option = [...choice.options].find(({ value }) => productSlug(value) === wanted)
  if (!option) return
  choice.value = option.value
  const note = document.querySelector<HTMLElement>('.chosen')
  if (!note) return
  note.textContent = `${option.value}${note.dataset.chosen}`
  choice.addEventListener('change', () => note.replaceChildren(), { once: true })
}
