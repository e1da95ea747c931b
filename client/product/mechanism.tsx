import type { Mechanism as MechanismContent } from '../content/product.ts'
import { SlideBody } from './slide-body.tsx'

/** Phones: buttons show one slide at a time. Wide screens: a carousel of copies, once it is near. Without scripts: all slides. */
export function Mechanism({ slides, open, draggable }: MechanismContent) {
  return (
    <div className="mechanism" data-draggable={draggable}>
      <fieldset className="segments" aria-label="Show">
        {slides.map(
          ({ id, title, button = title }) =>
            button && (
              <button key={id} type="button" className="pill" data-slide={id} aria-pressed={id === open}>
                {button}
              </button>
            ),
        )}
      </fieldset>
      <ul className="slides">
        {slides.map((slide) => (
          <li
            key={slide.id}
            id={`slide-${slide.id}`}
            className="slide"
            data-slide={slide.id}
            data-active={slide.id === open}
            aria-label={slide.title}
          >
            <SlideBody slide={slide} />
          </li>
        ))}
      </ul>
    </div>
  )
}
