import { useEffect, useRef, useState } from 'react'

/** In page order. Those after the first are numbered. */
export const sections = [
  { id: 'description', title: 'Product Description' },
  { id: 'mechanism', title: 'Mechanism Of Action' },
  { id: 'composition', title: 'Salt Composition' },
  { id: 'dosage', title: 'Dosage & Instructions' },
  { id: 'indications', title: 'Indications' },
  { id: 'safety', title: 'Safety Information' },
]

/** Links to the sections; the current one is marked. */
export function Contents() {
  const row = useRef<HTMLElement>(null)
  const [current, setCurrent] = useState<string>()

  useEffect(() => {
    // The current section crosses a line at 35 % of the screen's height.
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) if (isIntersecting) setCurrent(target.id)
      },
      { rootMargin: '-35% 0% -65%' },
    )
    for (const section of document.querySelectorAll('main section[id]')) observer.observe(section)
    return () => observer.disconnect()
  }, [])

  useEffect(() => {
    if (!current) return
    const link = row.current?.querySelector<HTMLElement>('[aria-current]')
    if (link) row.current?.scrollTo({ left: link.offsetLeft - row.current.clientWidth / 4 })
  }, [current])

  return (
    <nav ref={row} aria-label="Sections of this page">
      <ol>
        {sections.map(({ id, title }) => (
          <li key={id}>
            <a href={`#${id}`} aria-current={id === current ? 'location' : undefined}>
              {title}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  )
}
