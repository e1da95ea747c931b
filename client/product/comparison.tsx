import { productPath, products } from '../../shared/catalogue.ts'
import { fullName } from '../content/compositions.ts'
import { compareProducts, home } from '../content/home.ts'
import { Amount } from '../ui/amount.tsx'
import { SectionHead } from './section-head.tsx'

/** All formulas side by side, ingredient by ingredient. What one product's label calls otherwise is said in its place. */
export function Comparison() {
  return (
    <section className="section comparison" aria-labelledby="comparison-title">
      <div className="wrap">
        <SectionHead id="comparison" {...home.comparison} />
        <table>
          <thead>
            <tr>
              <th scope="col">Ingredient</th>
              {products.map((product) => (
                <th key={product} scope="col">
                  <a href={productPath(product)}>{product}</a>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {compareProducts().map(({ key, name, lines }) => (
              <tr key={key}>
                <th scope="row">{name}</th>
                {lines.map((line, index) => (
                  <td key={products[index]} data-product={products[index]}>
                    {line ? <Amount>{line.amount}</Amount> : <span className="none">none</span>}
                    {line && fullName(line) !== name && <small>{fullName(line)}</small>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
