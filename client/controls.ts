import { prefill } from './enquiry/prefill.ts'
import { watchFirstButton } from './layout/header-button.ts'
import { enableMenus } from './layout/menus.ts'
import { markCurrentSection } from './product/current-section.ts'
import { openClickedIndication } from './product/indication-cards.ts'
import { leadToIngredient, openRow } from './product/living-label.ts'
import { pressClicked, watchMechanism } from './product/mechanism-controls.ts'
import { pressChip } from './product/own-sheet.ts'
import { centreInRow } from './ui/row.ts'
import { handleSharing } from './ui/share.ts'

/** What the pages do without React, once they are parsed. */
export function startControls(): void {
  enableMenus()
  watchFirstButton()
  markCurrentSection()
  watchMechanism()
  openRow()
  addEventListener('hashchange', openRow)
  addEventListener('focusin', showFocused)
  const year = document.querySelector('[data-year]') // the built page has the year of the build
  if (year) year.textContent = String(new Date().getFullYear())
  prefill()
}

/** Of buttons outside React. They work also while the page is still being parsed. */
export function handleClicks(event: MouseEvent): void {
  for (const act of [openClickedIndication, pressClicked, leadToIngredient, pressChip, handleSharing, copyReference])
    act(event)
}

/** In a row that scrolls sideways the keyboard may reach what is beyond its edge. */
function showFocused({ target }: FocusEvent) {
  const item = (target as Element).closest<HTMLElement>('.contents a, .segments button')
  if (item?.matches(':focus-visible')) centreInRow(item) // not under a finger, whose tap would miss it
}

/** Selects the reference where the clipboard is not available, as on a page without TLS. */
async function copyReference({ target }: MouseEvent) {
  const button = (target as Element).closest('.copy-button')
  const reference = button?.previousElementSibling
  if (!button || !reference) return
  try {
    await navigator.clipboard.writeText(reference.textContent)
    button.textContent = 'Copied'
  } catch {
    getSelection()?.selectAllChildren(reference)
  }
}
