import { brand } from '../../shared/brand.ts'
import { productSlug, products } from '../../shared/catalogue.ts'
import type { ProductContent } from '../content/product.ts'
import { Picture } from '../ui/picture.tsx'

const contents = [
  { id: 'description', title: 'Product Description' },
  { id: 'mechanism', title: 'Mechanism Of Action' },
  { id: 'composition', title: 'Salt Composition' },
  { id: 'dosage', title: 'Dosage & Instructions' },
  { id: 'indications', title: 'Indications' },
  { id: 'safety', title: 'Safety Information' },
]

export function ProductHero({ content }: { content: ProductContent }) {
  const { product, ground, tagline, paragraph, figures } = content
  return (
    <>
      <div className={`product-hero on-${ground}`}>
        <div className="wrap product-hero-grid">
          <Gallery content={content} />
          <section id="description" className="product-text" aria-labelledby="description-title">
            <h1>
              {brand.name} <span>{product.replace(brand.name, '').trim()}</span>
            </h1>
            <h2 id="description-title" className="label">
              Product Description
            </h2>
            <p className="tagline">{tagline}</p>
            <p>{paragraph}</p>
            <a href={`/buy-now?product=${productSlug(product)}`} className="button">
              Buy Now
            </a>
            <ul className="figures">
              {figures.map(({ amount, unit, of }) => (
                <li key={of}>
                  <strong>
                    {amount} <small>{unit}</small>
                  </strong>{' '}
                  {of}
                </li>
              ))}
            </ul>
          </section>
        </div>
      </div>
      <nav className="contents" aria-label={`Sections on ${product}`}>
        <ol className="wrap">
          {contents.map(({ id, title }) => (
            <li key={id}>
              <a href={`#${id}`}>{title}</a>
            </li>
          ))}
        </ol>
      </nav>
    </>
  )
}

function Gallery({ content: { product, pictures } }: { content: ProductContent }) {
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
            sizes={index === 0 ? '(min-width: 56.25em) 46vw, 84vw' : '(min-width: 56.25em) 590px, 84vw'}
            first={index === 0}
          />
          <figcaption className={index === 0 ? 'visually-hidden' : undefined}>{caption}</figcaption>
        </figure>
      ))}
    </section>
  )
}
