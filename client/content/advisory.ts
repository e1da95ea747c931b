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
    `This is a ${PRODUCT_CLASS}. It is not for medicinal use, and it is not meant to diagnose, treat, cure or prevent any disease. The areas named here are those in which a physician may advise it; they are not a promise.`,
    'Take it as directed by your physician and do not exceed the directed dose. It does not replace a varied diet or a healthy way of life. Keep it out of reach of children, in a cool, dry place.',
    'Allergens: EPA and DHA may come from fish, wheat germ oil from wheat; the pack names the sources. If you are pregnant or breastfeeding, take any medicine (blood thinners above all) or expect surgery, ask a doctor first.',
  ],
  maker: `${postalAddress} · ${brand.phone}`,
}
