import type { ReactNode } from 'react'
import type { IngredientCard, Slide } from '../content/product.ts'
import { Amount } from '../ui/amount.tsx'
import { Picture } from '../ui/picture.tsx'
import { ReadMore } from './read-more.tsx'

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
