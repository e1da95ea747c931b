/** The button prints the physician's sheet. The link shares it on a phone and prints it elsewhere. */
export function handleSheet(event: MouseEvent): void {
  const pressed = (event.target as Element).closest<HTMLElement>('.sheet-link, .sheet-button')
  if (!pressed) return
  event.preventDefault()
  const { share } = pressed.dataset
  if (share && matchMedia('(pointer: coarse)').matches) shareSheet(pressed, share)
  else printSheet()
}

/** Shares product, composition and address of the page: by the phone's menu, WhatsApp or the clipboard; else prints it. */
async function shareSheet(link: HTMLElement, text: string) {
  const url = location.origin + location.pathname
  if (navigator.share) return navigator.share({ text, url }).catch(() => {}) // the visitor has closed the menu
  const message = `${text}\n${url}`
  if (open(`https://wa.me/?text=${encodeURIComponent(message)}`)) return
  try {
    await navigator.clipboard.writeText(message)
    link.querySelector('span')?.replaceChildren('Copied')
  } catch {
    printSheet()
  }
}

/** Prints one sheet: print.css hides the rest of the page. */
function printSheet() {
  const page = document.documentElement
  page.toggleAttribute('data-sheet', true)
  const today = page.querySelector('[data-today]')
  if (today) today.textContent = new Date().toLocaleDateString('en-IN', { dateStyle: 'long' })
  addEventListener('afterprint', () => page.removeAttribute('data-sheet'), { once: true })
  print()
}
