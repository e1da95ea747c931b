import type { ReactNode } from 'react'
import { brand } from '../../shared/brand.ts'
import { buyNowPath, COMPOSITION_ID, type Product, productPath } from '../../shared/catalogue.ts'
import { advisory, labelFacts, notForMedicinalUse, notInsteadOfMedicine } from '../content/advisory.ts'
import { chipsOf, medicineCautions, otherMedicines } from '../content/cautions.ts'
import { telephone } from '../content/contact.ts'
import { buyNow } from '../content/enquiry-form.ts'
import { ALSO_ON_THE_LABEL, INDICATIONS_LEAD, type ProductContent, productSections } from '../content/product.ts'
import { AmountLink } from '../product/amount-link.tsx'
import { Composition } from '../product/composition.tsx'
import { Indications } from '../product/indications.tsx'
import { Mechanism } from '../product/mechanism.tsx'
import { OwnSheet } from '../product/own-sheet.tsx'
import { ProductHero } from '../product/product-hero.tsx'
import { Picture } from '../ui/picture.tsx'
import { NoBreakSpaces, SectionHead } from '../ui/text.tsx'
import type { Page } from './page.ts'

export function productPage(content: ProductContent): Page {
  const { product, description, ground } = content
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each page, when the module is loaded
  const Body = () => <ProductPage {...content} />
  return { path: productPath(product), title: product, description, ground, content, Body }
}

function ProductPage(content: ProductContent) {
  const { mechanism, composition, dosage, indications, safety } = content
  return (
    <>
      <ProductHero content={content} />
      <Section id="mechanism" lead={mechanism.lead}>
        <Mechanism {...mechanism} />
        <AlsoOnTheLabel {...content} />
      </Section>
      <Section id={COMPOSITION_ID} ground={`on-${composition.ground}`}>
        <OwnSheet content={content} />
        <Composition {...content} />
      </Section>
      <Section id="dosage">
        <Notes kind="dosage" notes={dosage} icons={icons} />
      </Section>
      <Section id="indications" lead={INDICATIONS_LEAD} note={`${notForMedicinalUse} ${notInsteadOfMedicine}`}>
        <Indications {...indications} />
        <Advisory product={content.product} />
      </Section>
      <Section id="safety">
        <Notes kind="safety" notes={safety}>
          <OtherMedicines product={content.product} />
        </Notes>
      </Section>
      <Closing {...content} />
    </>
  )
}

interface SectionProps {
  id: string
  ground?: string
  /** Text under the heading. Without it the content stands beside the heading on wide screens. */
  lead?: string
  /** Stands below the heading and the lead. */
  note?: string
  children: ReactNode
}

function Section({ id, ground = 'plain', lead, note, children }: SectionProps) {
  const number = productSections.findIndex((section) => section.id === id)
  return (
    <section id={id} className={`section ${ground} ${id}-section`} aria-labelledby={`${id}-title`}>
      <div className={lead ? 'wrap' : 'wrap columns numbered'}>
        <div className="section-side">
          <SectionHead id={id} number={number} title={productSections[number]?.title ?? ''} lead={lead}>
            {note && <p>{note}</p>}
          </SectionHead>
        </div>
        {children}
      </div>
    </section>
  )
}

/** Those that no slide of the mechanism names. */
function AlsoOnTheLabel({ mechanism: { slides }, composition: { rows } }: ProductContent) {
  const named = new Set(slides.flatMap(({ cards }) => cards.map(({ key }) => key)))
  const others = rows.filter(({ key }) => !named.has(key))
  if (others.length === 0) return null
  return (
    <section id="also" className="also-on-label" aria-labelledby="also-title">
      <h3 id="also-title">{ALSO_ON_THE_LABEL}</h3>
      <ul>
        {others.map((row) => (
          <li key={row.key} className="ingredient-text">
            <h4>{row.name}</h4>
            <AmountLink of={row} />
            <p>{row.text}</p>
            <p className="caution">{row.caution}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The first row of the safety information: every caution that is about a medicine. */
function OtherMedicines({ product }: { product: Product }) {
  const { title, question } = otherMedicines
  return (
    <li id="other-medicines">
      <h3>{title}</h3>
      <div>
        <p data-about={chipsOf(question)} data-name={title}>
          {question}
        </p>
        {medicineCautions(product).map(({ name, caution }) => (
          <p key={name} data-about={chipsOf(caution)} data-name={title}>
            <strong className="whole">{name}:</strong> {caution}
          </p>
        ))}
      </div>
    </li>
  )
}

/** Icons of the dosage cards, in their order: capsule, glass of water, sun struck out, lock. */
const icons = [
  'M11 29 29 11a7.8 7.8 0 0 0-11-11L0 18a7.8 7.8 0 0 0 11 11ZM9 9l11 11',
  'M0 0h22l-3 30H3ZM1.2 11c4-2.4 6.4 2 9.8 0s5.6-2 9.7 0',
  'M21 15a6 6 0 1 1-12 0 6 6 0 0 1 12 0M15 0v3M15 27v3M0 15h3M27 15h3M4.4 4.4l2.1 2.1M25.6 4.4l-2.1 2.1M2 28 28 2',
  'M0 13h22v17H0ZM5 13V8a6 6 0 0 1 12 0v5M11 19v5',
]

interface NotesProps {
  kind: 'dosage' | 'safety'
  notes: Record<string, string>
  icons?: string[]
  /** The first row. */
  children?: ReactNode
}

/** Quiet cards: a title and a sentence or two. */
function Notes({ kind, notes, icons = [], children }: NotesProps) {
  return (
    <ul className={`notes ${kind}`}>
      {children}
      {Object.entries(notes).map(([title, text], index) => (
        <li key={title}>
          {icons[index] && (
            <svg className="icon" viewBox="0 -2 34 34" fill="none" stroke="var(--accent-text)" aria-hidden="true">
              <path d={icons[index]} strokeWidth="1.4" strokeLinejoin="round" strokeLinecap="round" />
            </svg>
          )}
          <h3>{title}</h3>
          <p {...(kind === 'safety' && { 'data-about': chipsOf(`${title} ${text}`), 'data-name': title })}>
            <NoBreakSpaces>{text}</NoBreakSpaces>
          </p>
        </li>
      ))}
    </ul>
  )
}

function Advisory({ product }: { product: Product }) {
  return (
    <aside id="advisory" className="advisory on-sand columns" aria-labelledby="advisory-title">
      <h3 id="advisory-title">{advisory.title}</h3>
      <div>
        {advisory.paragraphs(product).map((paragraph) => (
          <p key={paragraph} data-about={chipsOf(paragraph)} data-name={advisory.title}>
            <NoBreakSpaces>{paragraph}</NoBreakSpaces>
          </p>
        ))}
        <p className="advisory-areas">{advisory.areas}</p>
        {labelFacts.map(({ title, value }) => (
          <p key={title} className="label-fact">
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

function Closing({ product, ground, picture }: ProductContent) {
  return (
    <div className={`closing on-${ground}`}>
      <div className="wrap">
        <div className="closing-text">
          <h2>{product}</h2>
          <p className="lead">{buyNow.closing}</p>
          <a href={buyNowPath(product)} className="button">
            {buyNow.title}
          </a>
        </div>
        <Picture className="square close" name={picture} alt="" sizes="(min-width: 37.5em) 320px, 50vw" />
      </div>
    </div>
  )
}
