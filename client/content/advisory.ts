import { postalAddress } from '../../shared/brand.ts'
import type { Product } from '../../shared/catalogue.ts'
import { compositions, joinWords } from './compositions.ts'

/** What the product is in law. */
export const PRODUCT_CLASS = 'health supplement'

/** Shown on the product pages, once known: { title: 'Licence number', value: '…' }, pack size, vegetarian mark, test report. */
export const labelFacts: { title: string; value: string }[] = []

/** Allergens, by the ingredient's key in `compositions`. */
const allergens: Record<string, string> = {
  omega3: 'EPA and DHA may come from fish',
  wheatGerm: 'wheat germ oil comes from wheat',
}

/** Also stands under the title of the indications. */
export const notForMedicinalUse =
  'It is not for medicinal use, and not meant to diagnose, treat, cure or prevent any disease.'

/** Follows it there. */
export const notInsteadOfMedicine = 'It does not take the place of any medicine.'

export const advisory = {
  title: 'Please read before use',
  paragraphs(product: Product): string[] {
    const held = Object.keys(compositions[product]).flatMap((key) => allergens[key] ?? [])
    const warned = held.length > 0 ? `Allergens: ${joinWords(held)}; check the pack. ` : ''
    return [
      `This is a ${PRODUCT_CLASS}. ${notForMedicinalUse}`,
      'Take it as directed by your physician, and never exceed the directed dose. It is no substitute for a varied diet. Store in a cool, dry place, out of reach of children.',
      `${warned}Ask a doctor first if you are pregnant or breastfeeding, take any medicine (especially blood thinners) or have surgery planned.`,
    ]
  },
  /** Not on the physician's sheet, which names no areas. */
  areas: 'The areas named here are those we list. They are not a promise.',
  maker: postalAddress,
}

/**
 * Indian law restricts lists of conditions in what is said about a supplement: see "Before you go live" in docs/make-it-yours.md.
 * `false` shows a neutral line in place of each list, and hides the names of conditions elsewhere.
 */
export const CONDITIONS_SHOWN: boolean = true

/** Where bottles are shown large. '' once the pictures show the real ones. */
export const illustration: string = 'Illustration; your pack may look different.'

export const neutralLine = 'As advised by your physician.'
