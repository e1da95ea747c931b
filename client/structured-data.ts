import { brand } from '../shared/brand.ts'
import { PUBLIC_URL_PLACEHOLDER } from '../shared/page-paths.ts'
import { advisory, PRODUCT_CLASS } from './content/advisory.ts'
import { descriptionOf } from './content/descriptions.ts'
import type { ProductContent } from './content/product.ts'
import type { Page } from './pages/page.ts'

const organization = { '@type': 'Organization', '@id': `${PUBLIC_URL_PLACEHOLDER}/#organization` }

/** What the page says, for machines. No offer, no rating, no indication. */
export function structuredData(page: Page): object[] {
  if (page.path === '/') return [fullOrganization()]
  if (page.unlisted) return []
  return page.content ? [breadcrumbs(page), product(page, page.content)] : [breadcrumbs(page)]
}

function fullOrganization() {
  const { street, city, postalCode, country } = brand.address
  return {
    ...organization,
    name: brand.company,
    url: `${PUBLIC_URL_PLACEHOLDER}/`,
    logo: `${PUBLIC_URL_PLACEHOLDER}/icon-512.png`,
    address: {
      '@type': 'PostalAddress',
      streetAddress: street,
      addressLocality: city,
      postalCode,
      addressCountry: country,
    },
    contactPoint: {
      '@type': 'ContactPoint',
      contactType: 'customer service',
      telephone: brand.phone,
      email: brand.email,
    },
    sameAs: Object.values(brand.social),
  }
}

function product(page: Page, content: ProductContent) {
  return {
    '@type': ['Product', 'DietarySupplement'],
    name: content.product,
    description: descriptionOf(page.path),
    url: PUBLIC_URL_PLACEHOLDER + page.path,
    category: PRODUCT_CLASS,
    brand: { '@type': 'Brand', name: brand.name },
    manufacturer: organization,
    activeIngredient: content.composition.rows.map(({ name, amount }) => `${name} ${amount.replace('\n', ', ')}`),
    recommendedIntake: { '@type': 'RecommendedDoseSchedule', name: Object.values(content.dosage)[0] },
    safetyConsideration: advisory.paragraphs.slice(1).join(' '),
  }
}

function breadcrumbs(page: Page) {
  return {
    '@type': 'BreadcrumbList',
    itemListElement: [
      { '@type': 'ListItem', position: 1, name: 'Home', item: `${PUBLIC_URL_PLACEHOLDER}/` },
      { '@type': 'ListItem', position: 2, name: page.title, item: PUBLIC_URL_PLACEHOLDER + page.path },
    ],
  }
}
