/* The focus must not fall to the page's body when what has it goes. */

let last: Element | null = null
let section: HTMLElement | null = null
let row = ''

/** The link of a row, the title of the enquiry that is shown, or the content. */
export function focusRow(reference: string): void {
  const places = [`[data-row="${reference}"] a`, 'h1[tabindex]', '#main']
  const found = places.map((place) => document.querySelector<HTMLElement>(place))
  found.find((place) => place?.offsetParent)?.focus()
}

/** The link of the row before or after this one in the list. @returns whether there is one */
export function focusRowBeside(row: Element, step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll('.enquiries [data-row]')]
  const link = rows[rows.indexOf(row) + step]?.querySelector('a')
  link?.focus()
  return Boolean(link)
}

export function watchFocus(): void {
  addEventListener('focusin', ({ target }) => {
    last = target as Element
    section = last.closest('section')
    row = last.closest<HTMLElement>('[data-row]')?.dataset.row ?? ''
  })
  new MutationObserver(() => {
    const isLost = document.activeElement === document.body && last && !last.isConnected
    if (!isLost) return
    if (!section?.isConnected) return focusRow(row)
    // A part of the enquiry that is shown: the page stays where it is, and a second Enter presses nothing.
    section.tabIndex = -1
    section.focus({ preventScroll: true })
  }).observe(document.body, { childList: true, subtree: true })
}
