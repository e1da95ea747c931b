import type { ReactNode } from 'react'
import type { IngredientCard, Slide } from '../content/product.ts'
import { Amount } from '../ui/amount.tsx'
import { Picture } from '../ui/picture.tsx'

export interface Folding {
  /** The texts that are shown in full. */
  unfolded: ReadonlySet<string>
  onToggle: (id: string) => void
}

/** The same in the page and in the carousel, so that nothing moves when one replaces the other. */
export function SlideBody({ slide, controls, ...folding }: Folding & { slide: Slide; controls?: ReactNode }) {
  return (
    <div className="slide-body" data-cards={slide.cards.length}>
      <div className="slide-head">
        <h3>{slide.title}</h3>
        {controls && <div className="slide-controls">{controls}</div>}
        {slide.text && <p>{slide.text}</p>}
      </div>
      <ul className="ingredients">
        {slide.cards.map((card) => (
          <Ingredient
            key={card.name}
            id={`${slide.id}/${card.name}`}
            card={card}
            sizes={slide.cards.length === 1 ? '(min-width: 56.25em) 540px, 92vw' : '(min-width: 56.25em) 300px, 112px'}
            {...folding}
          />
        ))}
      </ul>
    </div>
  )
}

interface IngredientProps extends Folding {
  id: string
  card: IngredientCard
  sizes: string
}

function Ingredient({ id, card, sizes, unfolded, onToggle }: IngredientProps) {
  return (
    <li className="ingredient">
      <Picture name={card.picture} alt={card.alt} sizes={sizes} />
      <div className="ingredient-text">
        <h4>{card.name}</h4>
        <p className="amounts">
          <Amount>{card.amount}</Amount>
        </p>
        {card.text && (
          <ReadMore text={card.text} of={card.name} open={unfolded.has(id)} onToggle={() => onToggle(id)} />
        )}
      </div>
    </li>
  )
}

const READ_MORE_LETTERS = 100

interface ReadMoreProps {
  text: string
  /** What the text is about, for those who hear only the button. */
  of: string
  open: boolean
  onToggle: () => void
}

/** The whole text is in the page; where scripts run, CSS hides what goes beyond the limit until it is asked for. */
function ReadMore({ text, of, open, onToggle }: ReadMoreProps) {
  const short = shortened(text)
  return (
    <p className="read-more" data-open={open}>
      {short}
      {short.length < text.length && (
        <>
          <span className="ellipsis" aria-hidden="true">
            …
          </span>
          <span className="rest">{text.slice(short.length)}</span>{' '}
          <button type="button" aria-expanded={open} onClick={onToggle}>
            {open ? 'read less' : 'read more'}
            <span className="visually-hidden"> about {of}</span>
          </button>
        </>
      )}
    </p>
  )
}

/** At most `READ_MORE_LETTERS` long, cut between two words. */
export function shortened(text: string) {
  if (text.length <= READ_MORE_LETTERS) return text
  return text.slice(0, text.lastIndexOf(' ', READ_MORE_LETTERS)).replace(/[,;:.]$/, '')
}
