import { WIDE_SCREEN } from '../ui/screen.ts'

/** Opens the card whose button is clicked and closes the others: exactly one is open. */
export function openClickedIndication({ target }: MouseEvent): void {
  const card = (target as Element).closest('.indication h3 button')?.closest<HTMLElement>('.indication')
  if (card && card.dataset.open === 'false') openCard(card)
}

/** With a view transition on wide screens; on phones the tapped card stays where it is. */
function openCard(card: HTMLElement) {
  const top = card.getBoundingClientRect().top
  const wide = matchMedia(WIDE_SCREEN).matches
  function change() {
    setOpen(card, wide)
    if (wide) card.scrollIntoView({ block: 'nearest', behavior: 'instant' })
    else scrollBy({ top: card.getBoundingClientRect().top - top, behavior: 'instant' })
  }
  if ((getComputedStyle(card).viewTransitionName ?? 'none') === 'none') return change()
  document.startViewTransition(change).ready.catch(() => {}) // skipped, as in a hidden tab: the card opens all the same
}

/** On wide screens the open card stands above the others, so it also comes first in the reading and tab order. */
function setOpen(card: HTMLElement, movesToTop: boolean) {
  const cards = [...(card.parentElement?.querySelectorAll<HTMLElement>('.indication') ?? [])]
  cards.sort((a, b) => Number(a.dataset.place) - Number(b.dataset.place))
  for (const each of cards) {
    each.dataset.open = String(each === card)
    each.querySelector('h3 button')?.setAttribute('aria-expanded', String(each === card))
    // Moves the others behind the open card, which itself stays: a moved element loses the focus.
    if (movesToTop && each !== card) each.parentElement?.append(each)
  }
}
