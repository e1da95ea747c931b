import { CONDITIONS_SHOWN, neutralLine } from '../content/advisory.ts'
import { type Indications as Content, type Indication, indicationAlts } from '../content/product.ts'
import { Picture } from '../ui/picture.tsx'

/** Picture cards of which exactly one is open: see indication-cards.ts. Without scripts all are. */
export function Indications({ open, cards }: Content) {
  const names = Object.keys(cards) as Indication[]
  return (
    <ul className="indications">
      {names.map((name, index) => (
        <li key={name} className="indication" data-open={name === open} data-place={index}>
          <Picture name={name} alt={indicationAlts[name]} sizes="(min-width: 37.5em) min(46vw, 660px), 92vw" />
          <h3>
            <button type="button" aria-expanded={name === open} aria-controls={`indication-${name}`}>
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
