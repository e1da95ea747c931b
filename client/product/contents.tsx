import { COMPOSITION_ID } from '../../shared/catalogue.ts'

/** In page order. Those after the first are numbered. */
export const sections = [
  { id: 'description', title: 'Product Description' },
  { id: 'mechanism', title: 'Mechanism Of Action' },
  { id: COMPOSITION_ID, title: 'Salt Composition' },
  { id: 'dosage', title: 'Dosage & Instructions' },
  { id: 'indications', title: 'Indications' },
  { id: 'safety', title: 'Safety Information' },
]

/** Links to the sections. */
export function Contents() {
  return (
    <div className="contents">
      <nav aria-label="Sections of this page">
        <ol>
          {sections.map(({ id, title }) => (
            <li key={id}>
              <a href={`#${id}`}>{title}</a>
            </li>
          ))}
        </ol>
      </nav>
    </div>
  )
}
