import { flushSync } from 'react-dom'
import { WIDE } from './use-carousel.ts'

/** Opens another card: on wide screens as a view transition, on phones so that the touched card stays under the finger. */
export function exchange(list: HTMLElement | null, id: string, open: () => void) {
  const cards = [...(list?.children ?? [])].filter((card): card is HTMLElement => card instanceof HTMLElement)
  const touched = cards.find(({ dataset }) => dataset.card === id)
  const top = () => touched?.getBoundingClientRect().top ?? 0
  if (!matchMedia(WIDE).matches) {
    const before = top()
    flushSync(open)
    return scrollBy({ top: top() - before, behavior: 'instant' })
  }
  function change() {
    flushSync(open)
    touched?.scrollIntoView({ block: 'nearest', behavior: 'instant' })
  }
  if (!('startViewTransition' in document) || matchMedia('(prefers-reduced-motion: reduce)').matches) return change()
  const name = (prefix: string) => {
    for (const [index, card] of cards.entries()) card.style.viewTransitionName = prefix && `${prefix}-${index}`
  }
  name('card')
  const { finished } = document.startViewTransition(change)
  finished.finally(() => name(''))
}
