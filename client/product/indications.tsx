import { useState } from 'react'
import { flushSync } from 'react-dom'
import { CONDITIONS_SHOWN, neutralLine } from '../content/advisory.ts'
import type { Indication, ProductContent } from '../content/product.ts'
import { Picture } from '../ui/picture.tsx'
import { WIDE } from './mechanism.tsx'

interface IndicationsProps {
  layout: ProductContent['indications']['layout']
  open: string
  cards: Indication[]
}

/** Picture cards of which exactly one is open. Without scripts all are. */
export function Indications({ layout, open, cards }: IndicationsProps) {
  const [{ opened, first }, setOpened] = useState({ opened: open, first: cards[0]?.id })
  // Where the open card stands above the others it is also read and tabbed to before them.
  const inOrder = [...cards].sort((a, b) => Number(b.id === first) - Number(a.id === first))
  return (
    <ul className={`indications indications-${layout}`}>
      {inOrder.map((card) => (
        <li key={card.id} className="indication" data-open={card.id === opened}>
          <Picture name={card.picture} alt={card.alt} sizes="(min-width: 37.5em) min(46vw, 660px), 92vw" />
          <h3>
            <button
              type="button"
              aria-expanded={card.id === opened}
              aria-controls={`indication-${card.id}`}
              onClick={({ currentTarget }) =>
                exchange(currentTarget.closest('li') ?? currentTarget, () =>
                  setOpened({ opened: card.id, first: isAbove(layout) ? card.id : first }),
                )
              }
            >
              {card.title}
            </button>
          </h3>
          <div id={`indication-${card.id}`} className="indication-body">
            <Body card={card} />
          </div>
        </li>
      ))}
    </ul>
  )
}

/** Whether the open card stands above the others: see indications.css. */
function isAbove(layout: IndicationsProps['layout']): boolean {
  return matchMedia(WIDE).matches && (layout === 'stage' || !matchMedia('(min-width: 80em)').matches)
}

function Body({ card: { text, bullets } }: { card: Indication }) {
  if (!bullets || !CONDITIONS_SHOWN) return <p>{text ?? neutralLine}</p>
  return (
    <ul>
      {bullets.map((bullet) => (
        <li key={bullet}>{bullet}</li>
      ))}
    </ul>
  )
}

/** Opens another card: on wide screens as a view transition, on phones so that the touched card stays under the finger. */
function exchange(card: Element, open: () => void) {
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
