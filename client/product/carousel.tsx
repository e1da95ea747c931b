import { type MouseEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
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
  mechanism.toggleAttribute('data-carousel', true)
  flushSync(() => root.render(<Carousel slides={slides} draggable={mechanism.dataset.draggable === 'true'} />))
  return unmount
}

/**
 * The interval is kept here, because react-slick's autoplay does not stop on focus. To loop, react-slick shows copies of
 * slides: every slide but the current one is inert.
 */
function Carousel({ slides, draggable }: { slides: HTMLElement[]; draggable: boolean }) {
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
      aria-label="Mechanism Of Action, one slide at a time"
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      onFocus={() => setFocused(true)}
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
        {slides.map((slide, index) => (
          <SlideCopy key={titleOf(slide)} of={slide} label={`${index + 1} of ${slides.length}: ${titleOf(slide)}`} />
        ))}
      </Slider>
    </section>
  )
}

const titleOf = (slide: HTMLElement) => slide.getAttribute('aria-label')

function SlideCopy({ of: slide, label }: { of: HTMLElement; label: string }) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    place.current?.replaceChildren(...slide.cloneNode(true).childNodes)
  }, [slide])
  // biome-ignore lint/a11y/useSemanticElements: a slide is a group in the carousel pattern, and no fieldset
  return <div ref={place} className="slide" role="group" aria-roledescription="slide" aria-label={label} />
}
