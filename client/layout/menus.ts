/** Closes the menus where HTML does not, and opens them where popovers or `command` are unknown. */
export function enableMenus() {
  const header = document.querySelector<HTMLElement>('.site-header')
  const button = header?.querySelector('.products-button')
  const productsList = header?.querySelector<HTMLElement>('.products-menu')
  const dialog = header?.querySelector('dialog')
  if (!header || !button || !productsList || !dialog) return
  const hasPopovers = 'popover' in productsList
  const setExpanded = (open: boolean) => button.setAttribute('aria-expanded', String(open))
  const closeProducts = () => (hasPopovers ? productsList.hidePopover() : setExpanded(false))
  header.addEventListener('focusout', ({ relatedTarget: next }) => {
    // A press on the button moves the focus to it first. Its click then closes the list.
    if (next && next !== button && !productsList.contains(next as Node)) closeProducts()
  })
  header.addEventListener('click', (event) => {
    const link = (event.target as Element).closest('a[href^="/"], a[href^="#"]')
    if (!link) return
    dialog.close()
    closeProducts()
    // From a confirmation it leads to an empty form.
    if (
      !link.matches('[aria-current=page]') ||
      document.querySelector('.received') ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey
    )
      return
    event.preventDefault()
    scrollTo({ top: 0 }) // smooth, unless reduced motion is asked for: see base.css
  })
  if (!hasPopovers) {
    setExpanded(false)
    button.addEventListener('click', () => setExpanded(button.getAttribute('aria-expanded') !== 'true'))
  }
  if ('command' in button) return
  for (const each of header.querySelectorAll('[commandfor]'))
    each.addEventListener('click', () => (dialog.open ? dialog.close() : dialog.showModal()))
}
