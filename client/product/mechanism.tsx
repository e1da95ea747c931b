import { useRef, useState } from 'react'
import type { Mechanism as MechanismContent } from '../content/product.ts'
import { SlideBody } from './slide-body.tsx'
import { useCarousel } from './use-carousel.ts'

/**
 * On phones named buttons show one slide at a time; on wide screens a carousel takes over once it comes near. Until
 * then, and without JavaScript, the slides stand in the page as they are.
 */
export function Mechanism({ slides, open, draggable }: MechanismContent) {
  const region = useRef<HTMLDivElement>(null)
  const Carousel = useCarousel(region)
  const [active, setActive] = useState(open)
  // Above the carousel, because it shows copies of the slides, which must agree.
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())

  function toggle(id: string) {
    setUnfolded((now) => (now.has(id) ? new Set([...now].filter((one) => one !== id)) : new Set(now).add(id)))
  }

  return (
    <div ref={region} className="mechanism">
      {Carousel ? (
        <Carousel slides={slides} draggable={draggable} unfolded={unfolded} onToggle={toggle} />
      ) : (
        <>
          <fieldset className="segments" aria-label="Show">
            {slides.map(
              ({ id, title, button = title }) =>
                button && (
                  <button
                    key={id}
                    type="button"
                    className="pill"
                    aria-pressed={id === active}
                    onClick={() => setActive(id)}
                  >
                    {button}
                  </button>
                ),
            )}
          </fieldset>
          <div className="slides">
            {slides.map((slide) => (
              <section key={slide.id} className="slide" data-active={slide.id === active} aria-label={slide.title}>
                <SlideBody slide={slide} unfolded={unfolded} onToggle={toggle} />
              </section>
            ))}
          </div>
        </>
      )}
    </div>
  )
}
