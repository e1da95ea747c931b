import { brand } from '../../shared/brand.ts'
import { PRODUCT_CLASS } from '../content/advisory.ts'
import type { Composition as CompositionContent } from '../content/product.ts'
import { Amount, Words } from '../ui/text.tsx'

/** Drawn as the label on the bottle is. Each row opens and says what the ingredient is, and what to mind. */
export function Composition({ product, caption, rows, footnote }: CompositionContent & { product: string }) {
  return (
    <div className="composition">
      <div className="panel">
        <p className="panel-class">{PRODUCT_CLASS}</p>
        <table>
          <caption>
            <strong>{product}</strong> {caption}
          </caption>
          <thead>
            <tr>
              <th scope="col">Ingredient</th>
              <th scope="col">Amount</th>
            </tr>
          </thead>
          <tbody>
            {rows.flatMap(({ name, note, amount, hue, text, caution }) => [
              <tr key={name}>
                <th scope="row">
                  <i className="hue" data-hue={hue} />
                  {name}
                  {note && <span> ({note})</span>}
                </th>
                <td>
                  <Amount>{amount}</Amount>
                  <details>
                    <summary aria-label={`About ${name}`} />
                  </details>
                </td>
              </tr>,
              // Shown while the row above is open: a line of its own, below a name of any length.
              <tr key={text} className="about">
                <td colSpan={2}>
                  {text} {caution && <strong>{caution}</strong>}
                </td>
              </tr>,
            ])}
          </tbody>
        </table>
        <p className="panel-band">
          {brand.company}, {brand.address.city}
        </p>
      </div>
      <p className="small">
        <Words>{footnote}</Words>
      </p>
      <p className="dose">Dose advised by the physician:</p>
      <button type="button" className="pill sheet-button">
        Print for your physician
      </button>
    </div>
  )
}
