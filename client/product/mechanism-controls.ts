import { centreInRow } from '../ui/row.ts'
import { WIDE_SCREEN } from '../ui/screen.ts'

const NEAR = '600px'

/** A button of the segments shows its slide. "read more" shows a whole text, in the page and in the carousel's copies. */
export function pressClicked({ target }: MouseEvent): void {
  const button = (target as Element).closest<HTMLElement>('.mechanism button')
  const mechanism = button?.closest('.mechanism')
  if (!button || !mechanism) return
  const text = button.closest<HTMLElement>('.read-more')
  if (text) toggleText(mechanism, text)
  else if (button.dataset.slide) showSlide(mechanism, button)
}

/** On a phone. */
export function showSlide(mechanism: Element, button: HTMLElement) {
  const { slide } = button.dataset
  for (const each of mechanism.querySelectorAll<HTMLElement>('.segments button'))
    each.setAttribute('aria-pressed', String(each === button))
  for (const each of mechanism.querySelectorAll<HTMLElement>('.slides > .slide'))
    each.dataset.active = String(each.dataset.slide === slide)
  centreInRow(button)
}

function toggleText(mechanism: Element, { dataset: { text, open } }: HTMLElement) {
  for (const each of mechanism.querySelectorAll<HTMLElement>('.read-more')) {
    if (each.dataset.text === text) setOpen(each, open === 'false')
  }
}

function setOpen(text: HTMLElement, isOpen: boolean) {
  text.dataset.open = String(isOpen)
  text.querySelector('button')?.setAttribute('aria-expanded', String(isOpen))
}

/** Loads the carousel once the region comes near on a wide screen; on a narrower one the page's own slides are shown. */
export function watchMechanism(): void {
  const mechanism = document.querySelector<HTMLElement>('.mechanism')
  if (!mechanism) return
  const screen = matchMedia(WIDE_SCREEN)
  let unmount: (() => void) | undefined
  const observer = new IntersectionObserver(
    async ([entry]) => {
      if (!entry?.isIntersecting || unmount) return
      const module = await import('./carousel.tsx').catch(() => undefined) // the slides stay as they are in the page
      // The screen may have become narrow while the carousel was loaded.
      if (screen.matches) unmount ??= module?.mountCarousel(mechanism)
    },
    { rootMargin: NEAR },
  )
  function followScreenWidth() {
    // A wide screen has room for whole texts.
    for (const text of mechanism?.querySelectorAll<HTMLElement>('.slides .read-more') ?? [])
      setOpen(text, screen.matches)
    if (screen.matches) return observer.observe(mechanism as HTMLElement)
    observer.disconnect()
    unmount?.()
    unmount = undefined
  }
  screen.addEventListener('change', followScreenWidth)
  followScreenWidth()
}
