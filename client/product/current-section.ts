import { centreInRow } from '../ui/row.ts'

/** Marks the link to the last section whose beginning is above a line at 35 % of the screen's height. */
export function markCurrentSection() {
  const sections = [...document.querySelectorAll('main section[id]')]
  const mark = () =>
    markSection(sections.findLast((section) => section.getBoundingClientRect().top < innerHeight * 0.35))
  // These margins leave a line without height.
  const observer = new IntersectionObserver(mark, { rootMargin: '-35% 0% -65%' })
  for (const section of sections) observer.observe(section)
}

function markSection(section: Element | undefined) {
  const link = section && document.querySelector<HTMLElement>(`.contents [href="#${section.id}"]`)
  if (!link || link.ariaCurrent) return
  document.querySelector('.contents [aria-current]')?.removeAttribute('aria-current')
  link.setAttribute('aria-current', 'location')
  centreInRow(link)
}
