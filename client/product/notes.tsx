import type { Note } from '../content/product.ts'
import { Icon } from '../ui/icon.tsx'
/** Quiet cards: a title and a sentence or two. */
export function Notes({ notes, className }: { notes: Note[]; className: string }) {
  return (
    <ul className={`notes ${className}`}>
      {notes.map(({ title, text, icon }) => (
        <li key={title}>
          {icon && <Icon name={icon} />}
          <h3>{title}</h3>
          <p>{text}</p>
        </li>
      ))}
    </ul>
  )
}
