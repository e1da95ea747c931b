import { COMPOSITION_ID } from '../../shared/catalogue.ts'

/** In page order. The first one is the hero and has no number, so the index of a section is its number. */
export const productSections = [
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
          {productSections.map(({ id, title }) => (
            <li key={id}>
              <a href={`#${id}`}>{title}</a>
            </li>
          ))}
        </ol>
      </nav>
    </div>
  )
}
