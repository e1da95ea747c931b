import { brand } from '../../shared/brand.ts'
import { buyNowPath, products } from '../../shared/catalogue.ts'
import { firstLines, fullName } from '../content/compositions.ts'
import type { ProductContent } from '../content/product.ts'
import { Picture } from '../ui/picture.tsx'
import { Amount, SectionNumber, Words } from '../ui/text.tsx'

/** In the owner's order, and numbered as in a package insert. */
export const sections = [
  { id: 'description', title: 'Product Description' },
  { id: 'mechanism', title: 'Mechanism Of Action' },
  { id: 'composition', title: 'Salt Composition' },
  { id: 'dosage', title: 'Dosage & Instructions' },
  { id: 'indications', title: 'Indications' },
  { id: 'safety', title: 'Safety Information' },
]

/** Letters of a name that is set as large as a figure. */
const SHORT = 3

export function ProductHero({ content }: { content: ProductContent }) {
  const { product, ground, paragraph } = content
  const { lines, more } = firstLines(product)
  const name = product.replace(brand.name, '').trim()
  return (
    <>
      <div className={`product-hero on-${ground}`}>
        <div className="wrap product-hero-grid">
          <Gallery content={content} />
          <section id="description" className="product-text" aria-labelledby="description-title">
            <h1>
              {brand.name} <span data-long={name.length > SHORT || undefined}>{name}</span>
            </h1>
            <div className="label numbered">
              <SectionNumber>{1}</SectionNumber>
              <h2 id="description-title">Product Description</h2>
            </div>
            <p className="tagline">Revitalize your health with precision formulation</p>
            <p>
              <Words>{paragraph}</Words>
            </p>
            <a href={buyNowPath(product)} className="button">
              Buy Now
            </a>
            <ul className="figures">
              {lines.map((line) => (
                <li key={line.name}>
                  <Amount>{line.amount}</Amount> {fullName(line)}
                </li>
              ))}
            </ul>
            {more && (
              <a href="#composition" className="small">
                {more}
              </a>
            )}
          </section>
        </div>
      </div>
      <nav className="contents" aria-label={`Sections on ${product}`}>
        <ol className="wrap">
          {sections.map(({ id, title }) => (
            <li key={id}>
              <a href={`#${id}`}>{title}</a>
            </li>
          ))}
        </ol>
      </nav>
    </>
  )
}

function Gallery({ content: { product, picture, alt, capsulesAlt, labelAlt } }: { content: ProductContent }) {
  const pictures = [
    { name: picture, alt, caption: 'The bottle' },
    { name: `${picture}-capsules`, alt: capsulesAlt, caption: 'The capsules' },
    { name: `${picture}-label-wide`, alt: labelAlt, caption: 'The label' },
  ]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: on phones it scrolls sideways, which the keyboard must reach
    <section className="gallery" aria-label={`Pictures of ${product}`} tabIndex={0}>
      {pictures.map(({ name, alt, caption }, index) => (
        <figure
          key={name}
          className={index === 0 ? 'gallery-first' : undefined}
          data-hero={index === 0 ? products.indexOf(product) : undefined}
        >
          <Picture
            name={name}
            alt={alt}
            sizes="(min-width: 37.5em) min(46vw, 660px), calc(72vw - 28px)"
            first={index === 0}
          />
          <figcaption className={index === 0 ? 'visually-hidden' : undefined}>{caption}</figcaption>
        </figure>
      ))}
    </section>
  )
}
