import { brand } from '../../shared/brand.ts'

export const home = {
  title: 'Where innovation meets cure',
  headline: ['Where innovation', 'meets cure'],
  metaDescription: `Two health supplements from ${brand.company}, New Delhi: ${brand.name} 300 and ${brand.name} XT. Every ingredient and every amount is stated. Send an enquiry online.`,
  description: `${brand.name} is a line of two health supplements: ${brand.name} 300, built on three ingredients, and ${brand.name} XT, built on ten. Each formula is printed here in full, with every ingredient and every amount.`,
  pictureAlt: `${brand.name} 300 with an orange cap and ${brand.name} XT with a dark green cap, their capsules before them`,
  facts: [
    { title: 'Two formulas', text: 'each on a page of its own, in full' },
    { title: 'Ten ingredients', text: 'with every amount stated' },
    { title: 'One maker', text: `${brand.company}, ${brand.address.city}` },
  ],
  products: {
    title: 'Our Products',
    lead: 'Two formulas on the same foundation: Coenzyme Q10, omega-3 and lycopene.',
  },
}
