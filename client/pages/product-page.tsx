import { brand } from '../../shared/brand.ts'
import { buyNowPath, productPath } from '../../shared/catalogue.ts'
import { advisory, labelFacts } from '../content/advisory.ts'
import { telephone } from '../content/contact.ts'
import { buyNow } from '../content/enquiry-form.ts'
import type { ProductContent } from '../content/product.ts'
import { Composition } from '../product/composition.tsx'
import { Indications } from '../product/indications.tsx'
import { Mechanism } from '../product/mechanism.tsx'
import { Notes } from '../product/notes.tsx'
import { ProductHero } from '../product/product-hero.tsx'
import { Island } from '../ui/island.tsx'
import { Picture } from '../ui/picture.tsx'
import { SectionHead, Words } from '../ui/text.tsx'
import type { Page } from './page.ts'

export function productPage(content: ProductContent): Page {
  const { product, ground } = content
  return { path: productPath(product), title: product, ground, content, Body: () => <ProductPage {...content} /> }
}

/** The sections stand in the owner's order and are numbered as in a package insert. */
function ProductPage(content: ProductContent) {
  const { product, mechanism, composition, dosage, indications, safety } = content
  return (
    <>
      <ProductHero content={content} />
      <section id="mechanism" className="section plain mechanism-section" aria-labelledby="mechanism-title">
        <div className="wrap">
          <SectionHead id="mechanism" number={2} title="Mechanism Of Action" lead={mechanism.lead} />
          <Island name="mechanism" of={Mechanism} props={mechanism} />
        </div>
      </section>
      <section
        id="composition"
        className={`section on-${composition.ground} composition-section`}
        aria-labelledby="composition-title"
      >
        <div className="wrap columns numbered">
          <SectionHead id="composition" number={3} title="Salt Composition" />
          <Composition product={product} {...composition} />
        </div>
      </section>
      <section id="dosage" className="section plain dosage-section" aria-labelledby="dosage-title">
        <div className="wrap columns numbered">
          <SectionHead id="dosage" number={4} title="Dosage & Instructions" />
          <Notes notes={dosage} className="dosage" />
        </div>
      </section>
      <section id="indications" className="section plain indications-section" aria-labelledby="indications-title">
        <div className="wrap">
          <SectionHead id="indications" number={5} title="Indications" lead={indications.lead} />
          <Island name="indications" of={Indications} props={indications} />
          <Advisory />
        </div>
      </section>
      <section id="safety" className="section plain safety-section" aria-labelledby="safety-title">
        <div className="wrap columns numbered">
          <SectionHead id="safety" number={6} title="Safety Information" />
          <Notes notes={safety} className="safety" />
        </div>
      </section>
      <Closing {...content} />
    </>
  )
}

function Advisory() {
  return (
    <aside id="advisory" className="advisory on-sand" aria-labelledby="advisory-title">
      <h3 id="advisory-title">{advisory.title}</h3>
      <div>
        {advisory.paragraphs.map((paragraph) => (
          <p key={paragraph}>
            <Words>{paragraph}</Words>
          </p>
        ))}
        {labelFacts.map(({ title, value }) => (
          <p key={title}>
            {title}: {value}
          </p>
        ))}
        <p>
          {advisory.maker}
          <br />
          <a href={telephone}>{brand.phone}</a>
        </p>
      </div>
    </aside>
  )
}

/** Those who have read to the end need not go back to the top. */
function Closing({ product, ground, picture }: ProductContent) {
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
