import { brand } from '../../shared/brand.ts'
import { PRODUCT_CLASS } from '../content/advisory.ts'
import { chipsOf, medicineCautions } from '../content/cautions.ts'
import {
  ALSO_ON_THE_LABEL,
  type Ingredient,
  LABEL_CAPTION,
  MICROGRAMS,
  type ProductContent,
} from '../content/product.ts'
import { Picture } from '../ui/picture.tsx'
import { Amount, NoBreakSpaces } from '../ui/text.tsx'
import { rowId } from './amount-link.tsx'

/** Looks like the label on the bottle. A row opens to show and describe the ingredient, and leads to its slide above. */
export function Composition({ product, mechanism: { slides }, composition: { rows } }: ProductContent) {
  const again = new Set(medicineCautions(product).map(({ caution }) => caution))
  const slideOf = ({ key }: Ingredient) =>
    slides.find(({ brief, cards }) => !brief && cards.some((card) => card.key === key)) ?? {
      id: '',
      title: ALSO_ON_THE_LABEL,
    }
  return (
    <div className="composition">
      <div className="panel">
        <p className="panel-class">{PRODUCT_CLASS}</p>
        <table>
          <caption>
            <strong>{product}</strong> {LABEL_CAPTION}. <NoBreakSpaces>{MICROGRAMS}</NoBreakSpaces>
          </caption>
          <thead>
            <tr>
              <th scope="col">Ingredient</th>
              <th scope="col">Amount</th>
            </tr>
          </thead>
          <tbody>
            {rows.flatMap((row) => {
              const { key, name, note, amount, hue, picture, text, caution = '' } = row
              const slide = slideOf(row)
              const about = chipsOf(caution)
              return [
                <tr key={key} id={rowId(key)} data-about={about} data-name={about && name}>
                  <th scope="row">
                    <i className="hue" data-hue={hue} />
                    {name}
                    {note && (
                      <span>
                        {' '}
                        (<NoBreakSpaces>{note}</NoBreakSpaces>)
                      </span>
                    )}
                  </th>
                  <td>
                    <Amount>{amount}</Amount>
                    <details>
                      <summary aria-label={`About ${name}`} />
                    </details>
                  </td>
                </tr>,
                // Shown while the row above is open or marked.
                <tr key={text} className="about" data-about={about} data-again={again.has(caution) || undefined}>
                  <td colSpan={2}>
                    {picture && <Picture {...picture} sizes="144px" />}
                    <span className="about-text">{text}</span> {caution && <strong>{caution}</strong>}{' '}
                    <a href={slide.id ? `#slide-${slide.id}` : '#also'}>{slide.title}</a>
                  </td>
                </tr>,
              ]
            })}
          </tbody>
        </table>
        <p className="panel-band">
          {brand.company}, {brand.address.city}
        </p>
      </div>
    </div>
  )
}
