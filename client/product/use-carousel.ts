import { type ComponentType, type RefObject, useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import type { CarouselProps } from './carousel.tsx'

/** Not on paper: a print shows every slide. */
export const WIDE = 'screen and (min-width: 56.25em)'
const NEAR = '600px'

/** The carousel, once the region comes near on a wide screen; its code is not loaded before. */
export function useCarousel(region: RefObject<HTMLElement | null>) {
  const [Carousel, setCarousel] = useState<ComponentType<CarouselProps>>()
  const [wide, setWide] = useState(false)
  const [near, setNear] = useState(false)

  useEffect(() => {
    const screen = matchMedia(WIDE)
    const measure = () => flushSync(() => setWide(screen.matches)) // before the sheet is laid out
    setWide(screen.matches)
    screen.addEventListener('change', measure)
    return () => screen.removeEventListener('change', measure)
  }, [])

  useEffect(() => {
    if (!region.current) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setNear(true), { rootMargin: NEAR })
    observer.observe(region.current)
    return () => observer.disconnect()
  }, [region])

  useEffect(() => {
    if (!wide || !near) return
    import('./carousel.tsx').then(
      (module) => setCarousel(() => module.Carousel),
      () => undefined, // the slides stay as they are in the page
    )
  }, [wide, near])

  return wide ? Carousel : undefined
}
