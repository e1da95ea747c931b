import { brand } from '../../shared/brand.ts'
import { buyerTypes, products } from '../../shared/catalogue.ts'
import { PRODUCT_CLASS } from './advisory.ts'
import { compareProducts, joinWords } from './compositions.ts'

const NUMBERS = 'No One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve'.split(' ')
const inWords = (number: number) => NUMBERS[number] ?? String(number)
const productCount = inWords(products.length)
const ingredients = compareProducts()
const common = ingredients.filter(({ lines }) => lines.every(Boolean))

/** The two lines of the heading. */
const headline = ['Where innovation', 'meets cure'] as const

export const home = {
  title: headline.join(' '),
  headline,
  description: `${productCount} health supplements from ${brand.company}, ${brand.address.city}: ${joinWords([...products])}. Every active ingredient with its amount. Enquire online.`,
  /** One sentence per line where there is room. */
  lead: [`${productCount} ${PRODUCT_CLASS}s.`, 'Every active ingredient, every amount, as on the label.'],
  /** Links to the form, which selects the type of buyer. */
  buyers: [
    { type: buyerTypes[0], text: 'For your shop' },
    { type: buyerTypes[1], text: 'For yourself' },
  ],
  pictureAlt: `${products[0]} with an orange cap and ${products[1]} with a dark green cap, their capsules before them`,
  products: {
    title: 'Our Products',
    lead:
      common.length > 0
        ? `${productCount} formulas with a common core: ${joinWords(common.map(({ inSentence }) => inSentence))}.`
        : `${productCount} formulas, each with ingredients of its own.`,
  },
  comparison: {
    title: 'What is in each',
    lead: 'Amounts as on the labels. Which one is for you is a question for your physician.',
  },
}
