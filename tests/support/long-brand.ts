import type { Page } from '@playwright/test'
import { brand, postalAddress } from '../../shared/brand.ts'

/** What an owner may enter in shared/brand.ts that is longer than what stands there. */
const LONG_BRAND = {
  name: 'Wellnesswerk Sanjeevani',
  company: 'Sanjeevani Wellness and Nutrition Private Limited',
  phone: '+91 (0)80 2555 0100 ext. 1204',
  email: 'customer.care@sanjeevani-wellness.example',
  referencePrefix: 'MWMWM',
}

const texts: [own: string, long: string][] = [
  [postalAddress, `${LONG_BRAND.company}, Plot 14, Electronics Industrial Estate, Thiruvananthapuram 695001, India`],
  [brand.company, LONG_BRAND.company],
  [brand.email, LONG_BRAND.email],
  [brand.phone, LONG_BRAND.phone],
  [brand.address.street, 'Plot 14, Phase II, Electronics Industrial Estate'],
  [brand.address.city, 'Thiruvananthapuram'],
  [`${brand.referencePrefix}-`, `${LONG_BRAND.referencePrefix}-`],
  [brand.name, LONG_BRAND.name],
]

/** Puts them into a page, as if it were built with them. */
export function putLongBrand(page: Page) {
  return page.evaluate(
    ([pairs, name]) => {
      for (const logo of document.querySelectorAll('.logo')) {
        const typed = document.createElement('span')
        typed.className = 'logo logo-type'
        typed.dataset.long = 'true'
        typed.textContent = name
        logo.replaceWith(typed)
      }
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      while (walker.nextNode()) {
        const text = walker.currentNode as Text
        if (text.parentElement?.matches('.logo')) continue
        const long = pairs.reduce((data, [own, other]) => data.replaceAll(own, other), text.data)
        if (long !== text.data) text.data = long
      }
      for (const title of document.querySelectorAll('.product-text h1, .product-card h3'))
        title.setAttribute('data-long', 'true')
    },
    [texts, LONG_BRAND.name] as const,
  )
}
