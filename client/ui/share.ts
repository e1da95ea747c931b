/**
 * Of what can be shared or printed: the physician's sheet, and the slip of an enquiry. What cannot be shared is printed.
 */
export function handleSharing(event: MouseEvent): void {
  const pressed = (event.target as Element).closest<HTMLElement>('[data-share], [data-print]')
  if (!pressed) return
  event.preventDefault()
  const { share, print: part } = pressed.dataset
  if (share) shareText(pressed, share)
  else printPart(part)
}

/** By the menu of the browser, by WhatsApp on a phone, or by the clipboard; else it is printed. */
async function shareText(button: HTMLElement, text: string) {
  const url = location.origin + (button.dataset.url ?? location.pathname)
  if (navigator.share) return navigator.share({ text, url }).catch(() => {}) // the visitor has closed the menu
  const message = `${text}\n${url}`
  if (matchMedia('(pointer: coarse)').matches && open(`https://wa.me/?text=${encodeURIComponent(message)}`)) return
  try {
    await navigator.clipboard.writeText(message)
    ;(button.querySelector('span') ?? button).replaceChildren('Copied')
  } catch {
    printPart(button.dataset.print)
  }
}

/** Prints one part: print.css hides the rest of the page. */
function printPart(part = '') {
  const page = document.documentElement
  page.toggleAttribute('data-sheet', part === 'sheet')
  const today = page.querySelector('[data-today]')
  if (today) today.textContent = new Date().toLocaleDateString('en-IN', { dateStyle: 'long' })
  addEventListener('afterprint', () => page.removeAttribute('data-sheet'), { once: true })
  print()
}
