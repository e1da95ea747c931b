import type { ReactNode } from 'react'
import type { Ingredient as Content, Slide } from '../content/product.ts'
import { Picture } from '../ui/picture.tsx'
import { Amount } from '../ui/text.tsx'

export interface ReadMore {
  /** The texts that are shown in full. */
  openTexts: ReadonlySet<string>
  onToggle: (id: string) => void
}

/** The content of a slide, in the page and in the carousel. */
export function SlideBody({ slide, controls, ...readMore }: ReadMore & { slide: Slide; controls?: ReactNode }) {
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
            brief={slide.brief}
            sizes={slide.cards.length === 1 ? '(min-width: 56.25em) 540px, 40vw' : '(min-width: 56.25em) 208px, 40vw'}
            {...readMore}
          />
        ))}
      </ul>
    </div>
  )
}

interface IngredientProps extends ReadMore {
  id: string
  card: Content
  brief: boolean | undefined
  sizes: string
}

/** The whole text is in the page. With scripts, CSS hides the rest until "read more" is pressed. */
function Ingredient({ id, card, brief, sizes, openTexts, onToggle }: IngredientProps) {
  const { name, note, amount, picture, text, caution } = card
  const short = shortened(text)
  const open = openTexts.has(id)
  return (
    <li className="ingredient">
      {picture && <Picture {...picture} sizes={sizes} />}
      <div className="ingredient-text">
        <h4>
          {name} {note && <span>({note})</span>}
        </h4>
        <p className="amounts">
          <Amount>{amount}</Amount>
        </p>
        {!brief && (
          <p className="read-more" data-open={open}>
            {short}
            {short.length < text.length && (
              <>
                <span className="rest">{text.slice(short.length)}</span>{' '}
                <button type="button" aria-expanded={open} onClick={() => onToggle(id)}>
                  <span>{open ? 'read less' : 'read more'}</span>
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
const HIDDEN_LETTERS_MIN = 60

/** The sentences that end within `READ_MORE_LETTERS`; the whole text where little would be left to hide. */
export function shortened(text: string) {
  const start = text.slice(0, READ_MORE_LETTERS + 1)
  const end = start.lastIndexOf('. ') + 1 || text.indexOf('. ') + 1
  return end === 0 || text.length - end < HIDDEN_LETTERS_MIN ? text : text.slice(0, end)
}
