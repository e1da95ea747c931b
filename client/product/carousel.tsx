import { useEffect, useRef, useState } from 'react'
import slick from 'react-slick'
import type { Slide } from '../content/product.ts'
import { type ReadMore, SlideBody } from './slide-body.tsx'

// react-slick is CommonJS: the default import may be its module object instead of the class.
const Slider = (slick as typeof slick & { default?: typeof slick }).default ?? slick
const CAROUSEL_INTERVAL_MS = 10_000
const SLIDE_MS = 500

export interface CarouselProps extends ReadMore {
  slides: Slide[]
  draggable: boolean
}

/**
 * The interval is kept here, because react-slick's autoplay does not stop on focus. To loop, react-slick shows copies of
 * slides: every slide but the current one is inert.
 */
export function Carousel({ slides, draggable, openTexts, onToggle }: CarouselProps) {
  const slider = useRef<InstanceType<typeof Slider>>(null)
  const region = useRef<HTMLElement>(null)
  const moved = useRef<Way>(null)
  const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches
  const [playing, setPlaying] = useState(!reducedMotion)
  const [hovered, setHovered] = useState(false)
  const [focused, setFocused] = useState(false)
  const [shown, setShown] = useState(0)

  useEffect(() => {
    if (!playing || hovered || focused) return
    const timer = setInterval(() => {
      if (!document.hidden) slider.current?.slickNext()
    }, CAROUSEL_INTERVAL_MS)
    return () => clearInterval(timer)
  }, [playing, hovered, focused])

  function hideOthers() {
    for (const slide of region.current?.querySelectorAll<HTMLElement>('.slick-slide') ?? [])
      slide.inert = !slide.classList.contains('slick-active')
  }
  useEffect(hideOthers)

  function afterMove() {
    hideOthers()
    // Each slide has its own arrows: the focus goes to the same arrow of the new slide.
    const arrow =
      moved.current && region.current?.querySelector<HTMLElement>(`.slick-active [data-way=${moved.current}]`)
    arrow?.focus({ preventScroll: true })
    moved.current = null
  }

  function move(way: Way) {
    moved.current = way
    slider.current?.[way]()
  }

  /** Stops the carousel for somebody who reads a whole text. */
  function toggleText(id: string) {
    setPlaying(false)
    onToggle(id)
  }

  return (
    <section
      ref={region}
      className="carousel"
      aria-roledescription="carousel"
      aria-label="Mechanism Of Action, one slide at a time"
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      <div className="slide-index">
        <p>
          <span>{`${shown + 1} / ${slides.length}`}</span>
          <button type="button" className="pill play-button" onClick={() => setPlaying(!playing)}>
            <span>{playing ? 'Pause' : 'Play'}</span>
            <span className="visually-hidden"> the slides</span>
          </button>
        </p>
        <ol>
          {slides.map(({ id, title }, index) => (
            <li key={id}>
              <button
                type="button"
                aria-current={index === shown || undefined}
                onClick={() => slider.current?.slickGoTo(index)}
              >
                {title}
              </button>
            </li>
          ))}
        </ol>
      </div>
      <Slider
        ref={slider}
        draggable={draggable}
        swipe={draggable}
        arrows={false}
        accessibility={false}
        speed={reducedMotion ? 0 : SLIDE_MS}
        beforeChange={(_, next) => setShown(next)}
        afterChange={afterMove}
      >
        {slides.map((slide, index) => (
          // biome-ignore lint/a11y/useSemanticElements: a slide is a group in the carousel pattern, and no fieldset
          <div
            key={slide.id}
            className="slide"
            role="group"
            aria-roledescription="slide"
            aria-label={`${index + 1} of ${slides.length}: ${slide.title}`}
          >
            <SlideBody slide={slide} controls={<Arrows onMove={move} />} openTexts={openTexts} onToggle={toggleText} />
          </div>
        ))}
      </Slider>
    </section>
  )
}

const arrows = [
  { way: 'slickPrev', label: 'Previous slide', path: 'M20 12H4m7-7-7 7 7 7' },
  { way: 'slickNext', label: 'Next slide', path: 'M4 12h16m-7-7 7 7-7 7' },
] as const
type Way = (typeof arrows)[number]['way']

function Arrows({ onMove }: { onMove: (way: Way) => void }) {
  return arrows.map(({ way, label, path }) => (
    <button key={way} type="button" className="arrow" data-way={way} aria-label={label} onClick={() => onMove(way)}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d={path} />
      </svg>
    </button>
  ))
}
