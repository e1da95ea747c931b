import type { Composition as CompositionContent } from '../content/product.ts'

export function Composition({ product, caption, rows, footnote }: CompositionContent & { product: string }) {
  return (
    <div className="composition">
      <table>
        <caption>
          <strong>{product}</strong>
          {caption}
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
              <td>{amount}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="small">{footnote}</p>
    </div>
  )
}
