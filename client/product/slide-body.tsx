import type { Ingredient as Content, Slide } from '../content/product.ts'
import { Picture } from '../ui/picture.tsx'
import { Amount } from '../ui/text.tsx'
import { AmountLink } from './amount-link.tsx'

/** The content of a slide. The carousel copies it. */
export function SlideBody({ slide }: { slide: Slide }) {
  const { id, title, text, brief, cards } = slide
  const isLarge = cards.length < 3
  return (
    <div className="slide-body" data-cards={cards.length}>
      <div className="slide-head">
        <h3>{title}</h3>
        {cards.length === 1 && cards[0] && (
          <p className="amounts">
            <Amount>{cards[0].amount}</Amount>
          </p>
        )}
        <div className="slide-controls">
          {arrows.map(({ way, label, path }) => (
            <button key={way} type="button" className="arrow" data-way={way} aria-label={label}>
              <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.75" aria-hidden="true">
                <path d={path} />
              </svg>
            </button>
          ))}
        </div>
        {text && <p className="slide-text">{text}</p>}
      </div>
      <ul className="ingredients">
        {cards.map((card) => (
          <Ingredient
            key={card.name}
            id={`${id}/${card.name}`}
            card={card}
            brief={brief}
            sizes={isLarge ? '(min-width: 56.25em) 540px, 40vw' : '(min-width: 56.25em) 288px, 40vw'}
          />
        ))}
      </ul>
    </div>
  )
}

/** They work in the carousel, which is called by their `data-way`. */
const arrows = [
  { way: 'slickPrev', label: 'Previous slide', path: 'M20 12H4m7-7-7 7 7 7' },
  { way: 'slickNext', label: 'Next slide', path: 'M4 12h16m-7-7 7 7-7 7' },
] as const
export type Way = (typeof arrows)[number]['way']

interface IngredientProps {
  id: string
  card: Content
  brief: boolean | undefined
  sizes: string
}

/** The whole text is in the page. With scripts, CSS hides the rest until "read more" is pressed. */
function Ingredient({ id, card, brief, sizes }: IngredientProps) {
  const { name, note, picture, text, caution } = card
  const short = shortened(text)
  return (
    <li className="ingredient">
      {picture && <Picture {...picture} sizes={sizes} />}
      <div className="ingredient-text">
        <h4>
          {name} {note && <span>({note})</span>}
        </h4>
        <AmountLink of={card} />
        {!brief && (
          <p className="read-more" data-open={false} data-text={id}>
            {short}
            {short.length < text.length && (
              <>
                <span className="rest">{text.slice(short.length)}</span>
                <span className="more">…</span>{' '}
                <button type="button" aria-expanded={false}>
                  <span className="more">read more</span>
                  <span className="less">read less</span>
                  <span className="visually-hidden"> about {name}</span>
                </button>
              </>
            )}
          </p>
        )}
        {!brief && caution && <p className="caution">{caution}</p>}
      </div>
    </li>
  )
}

const READ_MORE_LETTERS = 100

/** The beginning of a text, cut between two words where that is nearest to `READ_MORE_LETTERS`. */
export function shortened(text: string) {
  if (text.length <= READ_MORE_LETTERS) return text
  const before = text.lastIndexOf(' ', READ_MORE_LETTERS)
  const after = text.indexOf(' ', READ_MORE_LETTERS)
  const isAfterNearer = after > 0 && after - READ_MORE_LETTERS < READ_MORE_LETTERS - before
  return text.slice(0, isAfterNearer ? after : before).replace(/[.,;:]$/, '')
}
