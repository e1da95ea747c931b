import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { compositions, fullName, type LabelLine, omega3 } from './compositions.ts'

const NUMBERS = 'No One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve'.split(' ')
const inWords = (number: number) => NUMBERS[number] ?? String(number)
/** Of the products, in words. */
export const count = inWords(products.length)

/** Its two lines. */
const headline = ['Where innovation', 'meets cure'] as const

export const home = {
  title: headline.join(' '),
  headline,
  description: `${count} formulas. Every ingredient, every amount, published in full.`,
  pictureAlt: `${brand.name} 300 with an orange cap and ${brand.name} XT with a dark green cap, their capsules before them`,
  facts: [
    { title: `${count} formulas`, text: 'each published in full' },
    { title: `${inWords(compareProducts().length)} ingredients`, text: 'every amount stated' },
    { title: 'One maker', text: `${brand.company}, ${brand.address.city}` },
  ],
  products: {
    title: 'Our Products',
    lead: `${count} formulas with a common core: Coenzyme Q10, ${omega3} and lycopene.`,
  },
  comparison: {
    title: 'What is in each',
    lead: 'Amounts in a dose, as on the labels. “10%” is the strength of the ingredient used. Which one is for you is a question for your physician.',
  },
}

/** Every ingredient of any product, with each product's line of it. The name is that of the longest list. */
export function compareProducts(): { key: string; name: string; lines: (LabelLine | undefined)[] }[] {
  const lists: Record<string, LabelLine>[] = products.map((product) => compositions[product])
  const byLength = [...lists].sort((a, b) => Object.keys(b).length - Object.keys(a).length)
  const named = new Map<string, LabelLine>()
  for (const list of byLength) for (const [key, line] of Object.entries(list)) if (!named.has(key)) named.set(key, line)
  return [...named].map(([key, line]) => ({ key, name: fullName(line), lines: lists.map((list) => list[key]) }))
}
