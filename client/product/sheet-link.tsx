import { COMPOSITION_ID, type Product } from '../../shared/catalogue.ts'
import { advisory } from '../content/advisory.ts'
import { ownSheet } from '../content/cautions.ts'
import { fullName } from '../content/compositions.ts'
import { ingredientsOf } from '../content/ingredients.ts'
import { LABEL_CAPTION } from '../content/product.ts'

/** The physician's sheet: ui/share.ts prints or shares it. Without scripts a link to the label. */
export function SheetLink({ product }: { product: Product }) {
  return (
    <div className="in-line sheet-link">
      <svg viewBox="0 0 48 58" width="48" aria-hidden="true">
        <g transform="rotate(-4 24 29) translate(4 3)" stroke="var(--ink)">
          <path d="M0 0h40v52H0z" fill="#fff" stroke="var(--line)" />
          <path d="M0 3h40" stroke="var(--accent)" strokeWidth="6" />
          <path d="M6 13h18M6 24h14M6 31h10M6 38h13M28 24h6M26 31h8M29 38h5M6 46h28" />
          <path d="M6 18.5h28" strokeWidth="2.5" />
        </g>
      </svg>
      <div>
        <p>{ownSheet.sheet}</p>
        <p className="in-line">
          <a href={`#${COMPOSITION_ID}`} data-print="sheet">
            {ownSheet.print}
          </a>
          <a href={`#${COMPOSITION_ID}`} className="with-scripts" data-print="sheet" data-share={shareText(product)}>
            {ownSheet.send}
          </a>
        </p>
      </div>
    </div>
  )
}

/** Product, composition and cautions; nothing about the visitor. */
function shareText(product: Product) {
  const lines = Object.values(ingredientsOf(product))
  return [
    `${product}. ${LABEL_CAPTION}:`,
    ...lines.map((line) => `${fullName(line)} ${line.amount.replace('\n', ', ')}`),
    ...lines.flatMap(({ name, caution }) => (caution ? `${name}: ${caution}` : [])),
    ...advisory.paragraphs(product),
  ].join('\n')
}
