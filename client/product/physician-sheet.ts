/** Prints one sheet for a physician: print.css hides the rest of the page. */
export function printSheet({ target }: MouseEvent): void {
  if (!(target as Element).closest('.sheet-button')) return
  const page = document.documentElement
  page.toggleAttribute('data-sheet', true)
  const today = page.querySelector('[data-today]')
  if (today) today.textContent = new Date().toLocaleDateString('en-IN', { dateStyle: 'long' })
  addEventListener('afterprint', () => page.removeAttribute('data-sheet'), { once: true })
  print()
}
