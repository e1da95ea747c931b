import type { Product } from '../../shared/catalogue.ts'
import { advisory } from '../content/advisory.ts'
import { chips, ownSheet } from '../content/cautions.ts'
import type { ProductContent } from '../content/product.ts'
import { SheetLink } from './sheet-link.tsx'

/** Chips of what may concern a reader: see own-sheet.ts. Without scripts there are none. */
export function OwnSheet({ content }: { content: ProductContent }) {
  const said = textsOf(content)
  return (
    <div className="own-sheet">
      <fieldset className="with-scripts" aria-describedby="own-sheet-hint">
        <legend>{ownSheet.title}</legend>
        {chips
          .filter(({ words }) => words.test(said))
          .map(({ id, label, isMedicine }) => (
            <button
              key={id}
              type="button"
              className="pill"
              data-chip={id}
              data-medicine={isMedicine}
              aria-pressed={false}
            >
              {label}
            </button>
          ))}
        <p id="own-sheet-hint" className="small">
          {ownSheet.hint}
        </p>
        <p role="status" data-marked-names={ownSheet.marked} />
      </fieldset>
      <SheetLink product={content.product} />
    </div>
  )
}

/** All that may be marked. */
function textsOf({ product, composition, safety }: ProductContent): string {
  return [
    ...composition.rows.map(({ caution }) => caution),
    ...Object.entries(safety).flat(),
    ...advisory.paragraphs(product satisfies Product),
  ].join(' ')
}
