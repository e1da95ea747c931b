import type { Product } from '../../shared/catalogue.ts'
import { compositions, fullName, type LabelLine } from '../content/compositions.ts'

/** The sheet in small. physician-sheet.ts shares it on a phone and prints it elsewhere; without scripts it is a link to the label. */
export function SheetLink({ product }: { product: Product }) {
  return (
    <a href="#composition" className="sheet-link" data-share={shareText(product)}>
      <svg viewBox="0 0 40 52" aria-hidden="true">
        <path className="sheet-paper" d="M1 1h38v50H1z" />
        <path className="sheet-band" d="M1 1h38v5H1z" />
        <path d="M6 13h18M6 24h14M6 31h10M6 38h13M28 24h6M26 31h8M29 38h5M6 46h28" />
        <path className="sheet-rule" d="M6 18.5h28" />
      </svg>
      <span>Show it to your physician</span>
    </a>
  )
}

/** Product and composition; nothing about the visitor. */
function shareText(product: Product) {
  const lines = Object.values<LabelLine>(compositions[product])
  return [`${product}. Each dose contains:`, ...lines.map((line) => `${fullName(line)} ${line.amount.replace('\n', ', ')}`)].join(
    '\n',
  )
}
