import type { Note } from '../content/product.ts'
import { Words } from '../ui/text.tsx'

/** Quiet cards: a title and a sentence or two. */
export function Notes({ notes, className }: { notes: Note[]; className: string }) {
  return (
    <ul className={`notes ${className}`}>
      {notes.map(({ title, text, icon }) => (
        <li key={title}>
          {icon && <Icon name={icon} />}
          <h3>{title}</h3>
          <p>
            <Words>{text}</Words>
          </p>
        </li>
      ))}
    </ul>
  )
}

const paths: Record<string, string> = {
  /** A capsule. */
  dose: 'M11 29 29 11a7.8 7.8 0 0 0-11-11L0 18a7.8 7.8 0 0 0 11 11ZM9 9l11 11',
  /** A glass of water. */
  glass: 'M4 0h22l-3 30H7ZM5.2 11c4-2.4 6.4 2 9.8 0s5.6-2 9.7 0',
  /** A sun, struck out. */
  shade:
    'M21 15a6 6 0 1 1-12 0 6 6 0 0 1 12 0M15 0v3M15 27v3M0 15h3M27 15h3M4.4 4.4l2.1 2.1M25.6 4.4l-2.1 2.1M2 28 28 2',
  /** A lock. */
  reach: 'M4 13h22v17H4ZM9 13V8a6 6 0 0 1 12 0v5M15 19v5',
}

function Icon({ name }: { name: string }) {
  return (
    <svg className="icon" viewBox="-2 -2 34 34" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
