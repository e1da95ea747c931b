import { type FocusEvent, type MouseEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import slick from 'react-slick'
import type { Way } from './slide-body.tsx'

// react-slick is CommonJS: the default import may be its module object instead of the class.
const Slider = (slick as typeof slick & { default?: typeof slick }).default ?? slick
const CAROUSEL_INTERVAL_MS = 10_000
const SLIDE_MS = 500

/** Shows copies of the page's slides one at a time. If it fails, the page's own slides are shown. @returns what unmounts it */
export function mountCarousel(mechanism: HTMLElement): () => void {
  const slides = [...mechanism.querySelectorAll<HTMLElement>('.slides > .slide')]
  const place = mechanism.appendChild(document.createElement('div'))
  const root = createRoot(place, {
    onUncaughtError(error) {
      console.error(error)
      unmount()
    },
  })
  function unmount() {
    mechanism.removeAttribute('data-carousel')
    root.unmount()
    place.remove()
  }
  const { top, bottom } = mechanism.getBoundingClientRect()
  const isRead = top < innerHeight && bottom > 0
  mechanism.toggleAttribute('data-carousel', true)
  flushSync(() =>
    root.render(<Carousel slides={slides} draggable={mechanism.dataset.draggable === 'true'} paused={isRead} />),
  )
  return unmount
}

interface CarouselProps {
  slides: HTMLElement[]
  draggable: boolean
  /** Somebody reads the page's own slides already: it waits for Play. */
  paused: boolean
}

/** What tells that somebody is about to read, or reads. */
const SIGNS = ['scroll', 'pointermove', 'keydown'] as const

/**
 * The interval is kept here, because react-slick's autoplay does not stop on focus; it begins anew with every sign of a
 * reader. For a screen reader and the keyboard the slides stay the one list they are in the page: only the copies by which
 * react-slick loops are inert.
 */
function Carousel({ slides, draggable, paused }: CarouselProps) {
  const slider = useRef<InstanceType<typeof Slider>>(null)
  const region = useRef<HTMLElement>(null)
  const moved = useRef<Way>(null)
  const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches
  const [playing, setPlaying] = useState(!reducedMotion && !paused)
  const [hovered, setHovered] = useState(false)
  const [focused, setFocused] = useState(false)
  const [shown, setShown] = useState(0)

  useEffect(() => {
    if (!playing || hovered || focused) return
    let timer: ReturnType<typeof setInterval>
    function begin() {
      clearInterval(timer)
      timer = setInterval(() => {
        if (!document.hidden) slider.current?.slickNext()
      }, CAROUSEL_INTERVAL_MS)
    }
    begin()
    for (const sign of SIGNS) addEventListener(sign, begin, { passive: true })
    return () => {
      clearInterval(timer)
      for (const sign of SIGNS) removeEventListener(sign, begin)
    }
  }, [playing, hovered, focused])

  function tellAsList() {
    region.current?.querySelector('.slick-track')?.setAttribute('role', 'list')
    for (const slide of region.current?.querySelectorAll<HTMLElement>('.slick-slide') ?? []) {
      slide.inert = slide.classList.contains('slick-cloned')
      if (!slide.inert) slide.removeAttribute('aria-hidden')
      slide.removeAttribute('tabindex')
    }
  }
  useEffect(tellAsList)

  /** The slide that gets the focus is shown. The browser has moved the row for it: react-slick does that itself. */
  function follow({ target }: FocusEvent) {
    setFocused(true)
    const slide = target.closest<HTMLElement>('.slick-slide:not(.slick-active)')
    if (!slide) return
    slide.closest('.slick-list')?.scrollTo({ left: 0, behavior: 'instant' })
    slider.current?.slickGoTo(Number(slide.dataset.index))
  }

  function afterMove() {
    tellAsList()
    // Each slide has its own arrows: the focus goes to the same arrow of the new slide.
    const arrow =
      moved.current && region.current?.querySelector<HTMLElement>(`.slick-active [data-way=${moved.current}]`)
    arrow?.focus({ preventScroll: true })
    moved.current = null
  }

  /** Of the buttons in the slides. Somebody who reads a whole text is not moved on. */
  function press({ target }: MouseEvent) {
    const way = (target as Element).closest<HTMLElement>('[data-way]')?.dataset.way as Way | undefined
    if ((target as Element).closest('.read-more button')) setPlaying(false)
    if (!way) return
    moved.current = way
    slider.current?.[way]()
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the clicks are those of buttons, which keys press too
    <section
      ref={region}
      className="carousel"
      aria-roledescription="carousel"
      aria-label="One slide at a time"
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      onFocus={follow}
      onBlur={() => setFocused(false)}
      onClick={press}
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
          {slides.map((slide, index) => (
            <li key={titleOf(slide)}>
              <button
                type="button"
                aria-current={index === shown || undefined}
                onClick={() => slider.current?.slickGoTo(index)}
              >
                {titleOf(slide)}
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
        {slides.map((slide) => (
          <SlideCopy key={titleOf(slide)} of={slide} />
        ))}
      </Slider>
    </section>
  )
}

const titleOf = (slide: HTMLElement) => slide.getAttribute('aria-label')

function SlideCopy({ of: slide }: { of: HTMLElement }) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    place.current?.replaceChildren(...slide.cloneNode(true).childNodes)
  }, [slide])
  // biome-ignore lint/a11y/useSemanticElements: its list is made of react-slick's elements
  return <div ref={place} className="slide" role="listitem" aria-label={titleOf(slide) ?? undefined} />
}
