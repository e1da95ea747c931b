import { brand, postalAddress } from '../../shared/brand.ts'

/** What the product is in law. */
export const PRODUCT_CLASS = 'health supplement'

/** Shown on the product pages once they are known; an empty one is left out. */
export const labelFacts: { title: string; value: string }[] = [
  { title: 'Licence number', value: '' },
  { title: 'Pack size', value: '' },
  { title: 'Vegetarian mark', value: '' },
  { title: 'Test report', value: '' },
].filter((fact) => fact.value)

export const advisory = {
  title: 'Please read before use',
  paragraphs: [
    `This is a ${PRODUCT_CLASS}. It is not for medicinal use, and is not meant to diagnose, treat, cure or prevent any disease. The areas named here are those in which a physician may advise it. They are not a promise of results.`,
    'Take it as directed by your physician, and never more than the directed dose. It is no substitute for a varied diet and a healthy lifestyle. Store it in a cool, dry place, out of reach of children.',
    'Allergens: EPA and DHA may come from fish, and wheat germ oil comes from wheat; check the pack for sources. Ask a doctor first if you are pregnant or breastfeeding, take any medicine (especially blood thinners) or have surgery planned.',
  ],
  maker: `${postalAddress} · ${brand.phone}`,
}
