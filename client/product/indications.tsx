import { useState } from 'react'
import { flushSync } from 'react-dom'
import { CONDITIONS_SHOWN, neutralLine } from '../content/advisory.ts'
import { type Indications as Content, type Indication, indicationAlts } from '../content/product.ts'
import { Picture } from '../ui/picture.tsx'
import { WIDE } from './mechanism.tsx'

/** Picture cards of which exactly one is open. Without scripts all are. */
export function Indications({ open, cards }: Content) {
  const names = Object.keys(cards) as Indication[]
  const [{ opened, first }, setOpened] = useState({ opened: open, first: names[0] })
  // A card shown above the others also comes first in the reading and tab order.
  names.sort((a, b) => Number(b === first) - Number(a === first))
  return (
    <ul className="indications">
      {names.map((name) => (
        <li key={name} className="indication" data-open={name === opened}>
          <Picture name={name} alt={indicationAlts[name]} sizes="(min-width: 37.5em) min(46vw, 660px), 92vw" />
          <h3>
            <button
              type="button"
              aria-expanded={name === opened}
              aria-controls={`indication-${name}`}
              onClick={({ currentTarget }) =>
                openCard(currentTarget.closest('li') ?? currentTarget, () =>
                  setOpened({ opened: name, first: matchMedia(WIDE).matches ? name : first }),
                )
              }
            >
              {cards[name]?.title}
            </button>
          </h3>
          <div id={`indication-${name}`} className="indication-body">
            <Body {...cards[name]} />
          </div>
        </li>
      ))}
    </ul>
  )
}

function Body({ text, bullets }: { text?: string; bullets?: string[] }) {
  if (!bullets || !CONDITIONS_SHOWN) return <p>{text ?? neutralLine}</p>
  return (
    <ul>
      {bullets.map((bullet) => (
        <li key={bullet}>{bullet}</li>
      ))}
    </ul>
  )
}

/** Opens another card: with a view transition on wide screens; on phones the tapped card stays where it is. */
function openCard(card: Element, open: () => void) {
  const top = card.getBoundingClientRect().top
  const wide = matchMedia(WIDE).matches
  function change() {
    flushSync(open)
    if (wide) card.scrollIntoView({ block: 'nearest', behavior: 'instant' })
    else scrollBy({ top: card.getBoundingClientRect().top - top, behavior: 'instant' })
  }
  if ((getComputedStyle(card).viewTransitionName ?? 'none') === 'none') return change()
  document.startViewTransition(change).ready.catch(() => {}) // skipped, as in a hidden tab: the card opens all the same
}
