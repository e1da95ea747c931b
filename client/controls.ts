import { focusNextField } from './enquiry/next-field.ts'
import { preselect } from './enquiry/preselect.ts'
import { enableMenus } from './layout/menus.ts'
import { markCurrentSection } from './product/current-section.ts'
import { openClickedIndication } from './product/indication-cards.ts'
import { pressClicked, watchMechanism } from './product/mechanism-controls.ts'
import { handleSheet } from './product/physician-sheet.ts'
import { centreInRow } from './ui/row.ts'

/** What the pages do without React. Resolves when all handlers are attached. */
export async function startControls() {
  if (document.readyState === 'loading')
    await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve))
  const page = document.documentElement
  enableMenus()
  markCurrentSection()
  watchMechanism()
  for (const act of [openClickedIndication, pressClicked, handleSheet, copyReference]) addEventListener('click', act)
  addEventListener('focusin', showFocused)
  addEventListener('keydown', focusNextField)
  const year = document.querySelector('[data-year]') // the built page has the year of the build
  if (year) year.textContent = String(new Date().getFullYear())
  preselect()
  page.toggleAttribute('data-ready', true)
  // The server sets data-vitals. Without the script only measurements are missing.
  if (page.dataset.vitals === 'on') import('./web-vitals.ts').catch(() => undefined)
  const whenIdle = window.requestIdleCallback ?? setTimeout // Safari has none
  whenIdle(prefetchScripts)
}

/** In a row that scrolls sideways the keyboard may reach what is beyond its edge. */
function showFocused({ target }: FocusEvent) {
  const item = (target as Element).closest<HTMLElement>('.contents a, .segments button')
  if (item?.matches(':focus-visible')) centreInRow(item) // not under a finger, whose tap would miss it
}

/** Fetches the scripts of the order form, which run once it is touched. */
function prefetchScripts() {
  const { connection } = navigator as Navigator & { connection?: { saveData: boolean } }
  const scripts = document.querySelector<HTMLElement>('[data-scripts]')?.dataset.scripts
  if (!scripts || connection?.saveData) return
  for (const href of scripts.split(' '))
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }))
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
