import { brand } from '../../shared/brand.ts'

export const home = {
  title: 'Where innovation meets cure',
  headline: ['Where innovation', 'meets cure'],
  metaDescription: `Two health supplements from ${brand.company}, New Delhi: ${brand.name} 300 and ${brand.name} XT. Every ingredient and every amount is stated. Send an enquiry online.`,
  description: `${brand.name} is a line of two health supplements: ${brand.name} 300, built on three ingredients, and ${brand.name} XT, built on ten. Each formula is printed here in full, with every ingredient and every amount.`,
  facts: [
    { figure: '2', text: 'formulas, each with a page of its own' },
    { figure: '10', text: 'ingredients, every amount stated' },
    { figure: '1', text: `maker, at home in ${brand.address.city}` },
  ],
  products: {
    title: 'Our Products',
    lead: 'Two formulas on the same foundation: Coenzyme Q10, omega-3 and lycopene.',
  },
}

export const buyNow = {
  title: 'Buy Now',
  metaDescription: `Send an enquiry for ${brand.name} 300 or ${brand.name} XT. You get a reference at once, and a person answers by phone or email.`,
  lead: 'Tell us what you need, as a retailer or for self use. You get a reference at once; a person answers by phone or email.',
}
