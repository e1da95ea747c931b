import { buyerTypes, productSlug, products } from '../../shared/catalogue.ts'

/**
 * Selects what a link to the form names, `?product=quvera-xt` or `?for=retailer`, unless the visitor has chosen.
 * Without scripts nothing is selected: a built page is the same file whatever the query says.
 */
export function preselect(): void {
  const query = new URLSearchParams(location.search)
  select('products', products, query.get('product'))
  select('retailerSelfUse', buyerTypes, query.get('for'))
}

function select(field: string, options: readonly string[], wanted: string | null) {
  const choice = document.querySelector<HTMLSelectElement>(`#order [name=${field}]`)
  if (choice && wanted && !choice.value) choice.value = options.find((option) => productSlug(option) === wanted) ?? ''
}
