import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { omega3 } from './ingredients.ts'
import { productCards } from './product-cards.ts'

const count = ['No', 'One', 'Two', 'Three', 'Four', 'Five'][products.length] ?? String(products.length)
const formulas = products.map((product) => `${product}, with ${productCards[product].builtOn}`)

/** Its two lines. */
const headline = ['Where innovation', 'meets cure'] as const

export const home = {
  title: headline.join(' '),
  headline,
  metaDescription: `${count} health supplements from ${brand.company}, ${brand.address.city}: ${listed(products, ', ', ' and ')}. Every ingredient, every amount, in full. Enquire online.`,
  description: `${brand.name} is a range of ${count.toLowerCase()} health supplements: ${listed(formulas, '; ', ', and ')}. Each formula is published here in full: every ingredient, every amount.`,
  pictureAlt: `${brand.name} 300 with an orange cap and ${brand.name} XT with a dark green cap, their capsules before them`,
  facts: [
    { title: `${count} formulas`, text: 'each published in full' },
    { title: 'Ten ingredients', text: 'every amount stated' },
    { title: 'One maker', text: `${brand.company}, ${brand.address.city}` },
  ],
  products: {
    title: 'Our Products',
    lead: `${count} formulas with a common core: Coenzyme Q10, ${omega3} and lycopene.`,
  },
}

function listed(parts: readonly string[], between: string, last: string) {
  return [parts.slice(0, -1).join(between), ...parts.slice(-1)].filter(Boolean).join(last)
}
