import { products } from '../../shared/catalogue.ts'

export const buyNow = {
  title: 'Buy Now',
  metaDescription: `Send an enquiry for ${products.join(' or ')}. You get a reference at once, and a person answers by phone or email.`,
  lead: 'Tell us what you need, as a retailer or for self use. You get a reference at once; a person answers by phone or email.',
}
