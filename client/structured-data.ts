import { brand } from '../shared/brand.ts'
import { PUBLIC_URL_PLACEHOLDER } from '../shared/page-paths.ts'
import type { Page } from './pages/page.ts'

/** Who we are, and where a page stands. No product: search engines take one only with an offer or a rating. */
export function structuredData(page: Page): object[] {
  if (page.unlisted) return []
  return [page.path === '/' ? organization() : breadcrumbs(page)]
}

function organization() {
  const { street, city, postalCode, country } = brand.address
  return {
    '@type': 'Organization',
    '@id': `${PUBLIC_URL_PLACEHOLDER}/#organization`,
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

function breadcrumbs(page: Page) {
  return {
    '@type': 'BreadcrumbList',
    itemListElement: [
      { '@type': 'ListItem', position: 1, name: 'Home', item: `${PUBLIC_URL_PLACEHOLDER}/` },
      { '@type': 'ListItem', position: 2, name: page.title, item: PUBLIC_URL_PLACEHOLDER + page.path },
    ],
  }
}
