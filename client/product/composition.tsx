import { brand } from '../../shared/brand.ts'
import { PRODUCT_CLASS } from '../content/advisory.ts'
import type { Composition as CompositionContent } from '../content/product.ts'
import { Amount } from '../ui/amount.tsx'

/** Drawn as the label on the bottle is. */
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
            {rows.map(({ name, note, amount, hue }) => (
              <tr key={name}>
                <th scope="row">
                  <i className="hue" data-hue={hue} />
                  {name} {note && <span>({note})</span>}
                </th>
                <td>
                  <Amount>{amount}</Amount>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <p className="panel-band">
          {brand.company}, {brand.address.city}
        </p>
      </div>
      <p className="small">{footnote}</p>
    </div>
  )
}
