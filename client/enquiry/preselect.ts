import { productSlug } from '../../shared/catalogue.ts'

/**
 * Selects what a link to the form names, `?product=quvera-xt` or `?for=retailer`, unless the visitor has chosen, and says so
 * under the title. Without scripts nothing is selected: a built page is the same file whatever the query says.
 */
export function preselect(): void {
  const query = new URLSearchParams(location.search)
  select('products', query.get('product'))
  select('retailerSelfUse', query.get('for'))
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
