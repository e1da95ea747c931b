import { Fragment } from 'react'
import { brand } from '../../shared/brand.ts'
import { type Product, productPath, productSlug, products } from '../../shared/catalogue.ts'
import { illustration } from '../content/advisory.ts'
import { compareProducts, compositions, fullName, type LabelLine } from '../content/compositions.ts'
import { home } from '../content/home.ts'
import { productCards } from '../content/product.ts'
import { OrderSection } from '../enquiry/order-form.tsx'
import { answerTo } from '../enquiry/order-state.ts'
import { Island } from '../ui/island.tsx'
import { isLong } from '../ui/logo.tsx'
import { Picture } from '../ui/picture.tsx'
import { Amount, FullName, SectionHead } from '../ui/text.tsx'
import type { Page } from './page.ts'

export const homePage: Page = {
  path: '/',
  ground: 'gold',
  title: home.title,
  description: home.description,
  Body: ({ outcome: { order } }) => (
    <>
      <div id="products">
        <Banner />
        <OurProducts />
        <Comparison />
      </div>
      <Island
        as="section"
        id="buy-now"
        className="section order-section"
        aria-labelledby="buy-now-title"
        name="order"
        of={OrderSection}
        props={{ path: '/', isPage: false, answer: order && answerTo(order) }}
      />
    </>
  ),
}

function Banner() {
  return (
    <section className="banner on-gold">
      <div className="wrap banner-grid">
        <div className="banner-text">
          <h1>
            {home.headline[0]} <br />
            {home.headline[1]}
          </h1>
          <p className="lead">
            {home.lead.map((sentence, index) => (
              <Fragment key={sentence}>
                {index > 0 && <br />}
                {sentence}{' '}
              </Fragment>
            ))}
          </p>
          <p className="in-line">
            <a href="#buy-now" className="button capitals">
              buy now
            </a>
            <span className="in-line">
              {home.buyers.map(({ type, text }) => (
                <a key={type} href={`/buy-now?for=${productSlug(type)}`}>
                  {text}
                </a>
              ))}
            </span>
          </p>
        </div>
        <Picture
          className="banner-picture"
          name="home-pair"
          alt={home.pictureAlt}
          // A little less than its width, so that common phones take the file of 720 px instead of 1200.
          sizes="(min-width: 37.5em) min(66vw - 7.1rem, 48rem), 99vw"
          first
        />
        {illustration && <p className="small illustration">{illustration}</p>}
      </div>
    </section>
  )
}

function OurProducts() {
  return (
    <section className="our-products" aria-labelledby="our-products-title">
      <div className="wrap section-head">
        <h2 id="our-products-title">{home.products.title}</h2>
        <p className="lead">{home.products.lead}</p>
      </div>
      <div className="product-cards" data-cards={products.length}>
        {products.map((product, index) => (
          <ProductCard key={product} product={product} index={index} />
        ))}
      </div>
    </section>
  )
}

function ProductCard({ product, index }: { product: Product; index: number }) {
  const { picture, ground, line, alt } = productCards[product]
  const [first, ...others] = Object.values<LabelLine>(compositions[product])
  return (
    <article className={`product-card on-${ground}`}>
      <Picture
        className="square"
        hero={index}
        name={picture}
        alt={alt}
        // A little less than its width, so that common phones take the file of 640 px instead of 960.
        sizes="(min-width: 37.5em) min(45vw, 516px), calc(100vw - 3rem)"
      />
      <div className="product-card-text">
        <h3 data-long={isLong(brand.name)}>{product}</h3>
        <p>{line}</p>
        {first && (
          <p className="card-figure">
            <Amount>{first.amount}</Amount> <FullName>{fullName(first)}</FullName>
            {others.length > 0 && ` and ${others.length} more`}
          </p>
        )}
        <a href={productPath(product)} className="button">
          Learn More <span className="visually-hidden">about {product}</span>
        </a>
      </div>
    </article>
  )
}

const nothing = (
  <>
    <span aria-hidden="true">–</span>
    <span className="visually-hidden">none</span>
  </>
)

/** All products side by side. A name that differs on one label stands below its amount. */
export function Comparison({ of = products }: { of?: readonly Product[] }) {
  return (
    <section className="section comparison" aria-labelledby="comparison-title">
      <div className="wrap columns">
        <div className="section-side">
          <SectionHead id="comparison" {...home.comparison} />
        </div>
        <table data-many={of.length > 2 || undefined}>
          <thead>
            <tr>
              <th scope="col">Ingredient</th>
              {of.map((product) => (
                <th key={product} scope="col">
                  <a href={productPath(product)}>{product}</a>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {compareProducts(of).map(({ key, name, lines }) => (
              <tr key={key}>
                <th scope="row">
                  <FullName>{name}</FullName>
                </th>
                {lines.map((line, index) => (
                  <td key={of[index]} data-product={of[index]}>
                    {line ? <Amount>{line.amount}</Amount> : nothing}
                    {line && fullName(line) !== name && (
                      <small>
                        <FullName>{fullName(line)}</FullName>
                      </small>
                    )}
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
