import { brand } from '../../shared/brand.ts'

export const buyNow = {
  title: 'Buy Now',
  metaDescription: `Send an enquiry for ${brand.name} 300 or ${brand.name} XT. You get a reference at once, and a person answers by phone or email.`,
  lead: 'Tell us what you need, as a retailer or for self use. You get a reference at once; a person answers by phone or email.',
}
