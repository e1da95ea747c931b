import { buyNowPath, productPath } from '../../shared/catalogue.ts'
import { buyNow } from '../content/buy-now.ts'
import type { ProductContent } from '../content/product.ts'
import { Composition, printSheet } from '../product/composition.tsx'
import { Indications } from '../product/indications.tsx'
import { Mechanism } from '../product/mechanism.tsx'
import { Notes } from '../product/notes.tsx'
import { ProductHero } from '../product/product-hero.tsx'
import { SectionHead } from '../product/section-head.tsx'
import { Picture } from '../ui/picture.tsx'
import { Still } from '../ui/still.tsx'
import type { Page } from './page.ts'

export function productPage(content: ProductContent): Page {
  const { product, ground } = content
  return { path: productPath(product), title: product, ground, content, Body: ProductPage }
}

/** The sections stand in the owner's order and are numbered as in a package insert. */
function ProductPage({ page: { content } }: { page: Page }) {
  if (!content) return null
  const { mechanism, composition, dosage, indications, safety } = content
  return (
    <>
      <Still id="hero">{import.meta.env.IN_FULL && <ProductHero content={content} />}</Still>
      <section id="mechanism" className="section plain mechanism-section" aria-labelledby="mechanism-title">
        <div className="wrap">
          <Still id="mechanism-head">
            {import.meta.env.IN_FULL && (
              <SectionHead id="mechanism" number={2} title="Mechanism Of Action" lead={mechanism.lead} />
            )}
          </Still>
          <Mechanism {...mechanism} />
        </div>
      </section>
      <Still id="composition" onClick={printSheet}>
        {import.meta.env.IN_FULL && (
          <section
            className={`section on-${composition.ground} composition-section`}
            aria-labelledby="composition-title"
          >
            <div className="wrap columns numbered">
              <SectionHead id="composition" number={3} title="Salt Composition" />
              <Composition product={content.product} {...composition} />
            </div>
          </section>
        )}
      </Still>
      <Still as="section" id="dosage" className="section plain dosage-section" aria-labelledby="dosage-title">
        {import.meta.env.IN_FULL && (
          <div className="wrap columns numbered">
            <SectionHead id="dosage" number={4} title="Dosage & Instructions" />
            <Notes notes={dosage} className="dosage" />
          </div>
        )}
      </Still>
      <section id="indications" className="section plain indications-section" aria-labelledby="indications-title">
        <div className="wrap">
          <Still id="indications-head">
            {import.meta.env.IN_FULL && (
              <SectionHead id="indications" number={5} title="Indications" lead={indications.lead} />
            )}
          </Still>
          <Indications {...indications} />
        </div>
      </section>
      <Still as="section" id="safety" className="section plain safety-section" aria-labelledby="safety-title">
        {import.meta.env.IN_FULL && (
          <div className="wrap columns numbered">
            <SectionHead id="safety" number={6} title="Safety Information" />
            <Notes notes={safety} className="safety" />
          </div>
        )}
      </Still>
      <Still id="closing">{import.meta.env.IN_FULL && <Closing content={content} />}</Still>
    </>
  )
}

/** Those who have read to the end need not go back to the top. */
function Closing({ content: { product, ground, picture } }: { content: ProductContent }) {
  return (
    <div className={`closing on-${ground}`}>
      <div className="wrap">
        <div className="closing-text">
          <h2>{product}</h2>
          <p className="lead">{buyNow.closing}</p>
          <a href={buyNowPath(product)} className="button">
            Buy Now
          </a>
        </div>
        <Picture className="square close" name={picture} alt="" sizes="(min-width: 37.5em) 320px, 50vw" />
      </div>
    </div>
  )
}
