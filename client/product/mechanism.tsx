import { type ComponentType, type RefObject, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Mechanism as MechanismContent } from '../content/product.ts'
import type { CarouselProps } from './carousel.tsx'
import { SlideBody } from './slide-body.tsx'

/** Phones: buttons show one slide at a time. Wide screens: a carousel, once the region comes near. Without scripts: all slides. */
export function Mechanism({ slides, open, draggable }: MechanismContent) {
  const region = useRef<HTMLDivElement>(null)
  const Carousel = useCarousel(region)
  const [active, setActive] = useState(open)
  // The carousel renders copies of slides, which share this state.
  const [openTexts, setOpenTexts] = useState<ReadonlySet<string>>(new Set())

  function toggle(id: string) {
    setOpenTexts((now) => (now.has(id) ? new Set([...now].filter((one) => one !== id)) : new Set(now).add(id)))
  }

  return (
    <div ref={region} className="mechanism">
      {Carousel ? (
        <Carousel slides={slides} draggable={draggable} openTexts={openTexts} onToggle={toggle} />
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
                    onClick={({ currentTarget }) => {
                      setActive(id)
                      currentTarget.scrollIntoView({ block: 'nearest', inline: 'center' })
                    }}
                  >
                    {button}
                  </button>
                ),
            )}
          </fieldset>
          <div className="slides">
            {slides.map((slide) => (
              <section key={slide.id} className="slide" data-active={slide.id === active} aria-label={slide.title}>
                <SlideBody slide={slide} openTexts={openTexts} onToggle={toggle} />
              </section>
            ))}
          </div>
        </>
      )}
    </div>
  )
}

/** Screens only: a print shows every slide. */
export const WIDE = 'screen and (scripting: enabled) and (min-width: 56.25em)'
const NEAR = '600px'

/** Loads the carousel once the region comes near on a wide screen. */
function useCarousel(region: RefObject<HTMLElement | null>) {
  const [Carousel, setCarousel] = useState<ComponentType<CarouselProps>>()
  const [wide, setWide] = useState(false)

  useEffect(() => {
    const screen = matchMedia(WIDE)
    const mounted = new AbortController()
    const measure = () => setWide(screen.matches)
    const showAllSlides = () => flushSync(() => setWide(false)) // before the sheet is laid out
    measure()
    screen.addEventListener('change', measure, mounted)
    addEventListener('beforeprint', showAllSlides, mounted)
    addEventListener('afterprint', measure, mounted)
    return () => mounted.abort()
  }, [])

  useEffect(() => {
    if (!wide || !region.current) return
    const observer = new IntersectionObserver(
      async ([entry]) => {
        if (!entry?.isIntersecting) return
        const module = await import('./carousel.tsx').catch(() => undefined) // the slides stay as they are in the page
        setCarousel(() => module?.Carousel)
      },
      { rootMargin: NEAR },
    )
    observer.observe(region.current)
    return () => observer.disconnect()
  }, [region, wide])

  return wide ? Carousel : undefined
}
