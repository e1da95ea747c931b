import { flushSync } from 'react-dom'
import { WIDE } from './use-carousel.ts'

/** Opens another card: on wide screens as a view transition, on phones so that the touched card stays under the finger. */
export function exchange(card: Element, open: () => void) {
  const top = card.getBoundingClientRect().top
  const wide = matchMedia(WIDE).matches
  function change() {
    flushSync(open)
    if (wide) card.scrollIntoView({ block: 'nearest', behavior: 'instant' })
    else scrollBy({ top: card.getBoundingClientRect().top - top, behavior: 'instant' })
  }
  const animated = (getComputedStyle(card).viewTransitionName ?? 'none') !== 'none'
  if (animated) document.startViewTransition(change)
  else change()
}
