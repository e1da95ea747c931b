import { Fragment } from 'react'
import { brand } from '../../shared/brand.ts'
import { buyNowPath, COMPOSITION_ID, productPath, products } from '../../shared/catalogue.ts'
import { PUBLIC_URL_PLACEHOLDER } from '../../shared/page-paths.ts'
import { illustration } from '../content/advisory.ts'
import { medicineCautions, otherMedicines, ownSheet } from '../content/cautions.ts'
import { fullName } from '../content/compositions.ts'
import { buyNow } from '../content/enquiry-form.ts'
import { type ProductContent, TAGLINE } from '../content/product.ts'
import { isLong } from '../ui/logo.tsx'
import { Picture } from '../ui/picture.tsx'
import { Amount, FullName, NoBreakSpaces } from '../ui/text.tsx'
import { rowId } from './amount-link.tsx'
import { Contents } from './contents.tsx'
import { SheetLink } from './sheet-link.tsx'

/** Names of at most so many letters are set in the largest size. */
const SHORT_NAME_LETTERS = 3
const FIGURES_SHOWN = 3

export function ProductHero({ content }: { content: ProductContent }) {
  const { product, ground, paragraph, composition } = content
  const { rows } = composition
  const [word = '', ...rest] = product.slice(brand.name.length + 1).split(' ')
  return (
    <>
      <div className={`product-hero on-${ground}`}>
        <div className="wrap product-hero-grid">
          <Gallery content={content} />
          {illustration && <p className="small illustration">{illustration}</p>}
          <section id="description" className="product-text" aria-labelledby="description-title">
            <h1 data-long={isLong(brand.name)}>
              {brand.name} <span data-long={word.length > SHORT_NAME_LETTERS || undefined}>{word}</span>{' '}
              {rest.join(' ')}
            </h1>
            <SheetLines product={product} />
            <h2 id="description-title" className="label">
              Product Description
            </h2>
            <p className="tagline">{TAGLINE}</p>
            <p>
              <NoBreakSpaces>{paragraph}</NoBreakSpaces>
            </p>
            <div className="in-line">
              <a href={buyNowPath(product)} className="button">
                {buyNow.title}
              </a>
              <SheetLink product={product} />
            </div>
            <p>{buyNow.price}</p>
            <p>
              {otherMedicines.question}{' '}
              {medicineCautions(product).map(({ name, caution }) => (
                <Fragment key={name}>
                  <strong className="whole">{name}:</strong> {caution}{' '}
                </Fragment>
              ))}
              <a href="#safety">Safety information</a>
            </p>
          </section>
          <div className="figures">
            <ul>
              {rows.slice(0, FIGURES_SHOWN).map((line, index) => (
                <li key={line.name}>
                  <Amount>{line.amount}</Amount> <FullName>{fullName(line)}</FullName>{' '}
                  {index === FIGURES_SHOWN - 1 && rows.length > FIGURES_SHOWN && (
                    <a href={`#${COMPOSITION_ID}`}>{`and ${rows.length - FIGURES_SHOWN} more`}</a>
                  )}
                </li>
              ))}
            </ul>
          </div>
        </div>
      </div>
      <Contents />
    </>
  )
}

/** Written on the physician's sheet, below the name. Only printed. */
function SheetLines({ product }: Pick<ProductContent, 'product'>) {
  return (
    <div className="sheet-lines">
      <p>
        {ownSheet.lines.medicines} <span data-begins="true" />
      </p>
      <p>
        {ownSheet.lines.also} <span data-begins="false" />
      </p>
      <p>Dose advised by the physician:</p>
      <p>Physician’s name:</p>
      <p>Date:</p>
      <p>
        {PUBLIC_URL_PLACEHOLDER}
        {productPath(product)}, printed on <span data-today />
      </p>
    </div>
  )
}

/** On the picture of the label, over its rows. */
function LabelLinks({ rows }: Pick<ProductContent['composition'], 'rows'>) {
  return (
    <ul className="label-links" data-rows={rows.length}>
      {rows.map(({ key, name, amount }) => (
        <li key={key} data-lines={amount.split('\n').length}>
          <a href={`#${rowId(key)}`}>
            <span className="visually-hidden">{name} on the label</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function Gallery({ content }: { content: ProductContent }) {
  const { product, picture, alt, capsulesAlt, labelAlt, composition } = content
  const pictures = [
    { name: picture, alt },
    { name: `${picture}-capsules`, alt: capsulesAlt },
    { name: `${picture}-label-wide`, alt: labelAlt },
  ]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: on phones it scrolls sideways, which the keyboard must reach
    <section className="gallery" aria-label={`Pictures of ${product}`} tabIndex={0}>
      {pictures.map(({ name, alt }, index) => (
        <figure
          key={name}
          className={index === 0 ? 'gallery-first' : undefined}
          data-hero={index === 0 ? products.indexOf(product) : undefined}
        >
          <Picture
            name={name}
            alt={alt}
            sizes={
              index === 0
                ? '(min-width: 56.25em) min(68vw, 930px), (min-width: 37.5em) 60vw, calc(72vw - 28px)'
                : '(min-width: 37.5em) min(46vw, 660px), calc(72vw - 28px)'
            }
            first={index === 0}
          />
          {index === 2 && <LabelLinks rows={composition.rows} />}
        </figure>
      ))}
    </section>
  )
}
