import { centreInRow } from '../ui/row.ts'

/** Marks the link to the section that crosses a line at 35 % of the screen's height. */
export function markCurrentSection() {
  // These margins leave a line without height.
  const observer = new IntersectionObserver(markSection, { rootMargin: '-35% 0% -65%' })
  for (const section of document.querySelectorAll('main section[id]')) observer.observe(section)
}

function markSection(entries: IntersectionObserverEntry[]) {
  const current = entries.findLast(({ isIntersecting }) => isIntersecting)
  const link = current && document.querySelector<HTMLElement>(`.contents [href="#${current.target.id}"]`)
  if (!link) return
  document.querySelector('.contents [aria-current]')?.removeAttribute('aria-current')
  link.setAttribute('aria-current', 'location')
  centreInRow(link)
}
