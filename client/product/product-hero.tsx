import { brand } from '../../shared/brand.ts'
import { buyNowPath, COMPOSITION_ID, products } from '../../shared/catalogue.ts'
import { illustration, otherMedicines } from '../content/advisory.ts'
import { fullName } from '../content/compositions.ts'
import { buyNow } from '../content/enquiry-form.ts'
import { type ProductContent, TAGLINE } from '../content/product.ts'
import { Picture } from '../ui/picture.tsx'
import { Amount, FullName, NoBreakSpaces } from '../ui/text.tsx'
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
            <h1>
              {brand.name} <span data-long={word.length > SHORT_NAME_LETTERS || undefined}>{word}</span>{' '}
              {rest.join(' ')}
            </h1>
            <h2 id="description-title" className="label">
              Product Description
            </h2>
            <p className="tagline">{TAGLINE}</p>
            <p>
              <NoBreakSpaces>{paragraph}</NoBreakSpaces>
            </p>
            <div className="in-line">
              <a href={buyNowPath(product)} className="button">
                Buy Now
              </a>
              <SheetLink product={product} />
            </div>
            <p>{buyNow.price}</p>
            <p>
              {otherMedicines(product)} <a href="#safety">Safety information</a>
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

function Gallery({ content: { product, picture, alt, capsulesAlt, labelAlt } }: { content: ProductContent }) {
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
        </figure>
      ))}
    </section>
  )
}
