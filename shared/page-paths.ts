import { productPath, products } from './catalogue.ts'

/** Pages with the order form. */
export const orderPaths: readonly string[] = ['/', '/buy-now']

export const PRIVACY_PATH = '/privacy-policy'

/** All pages of the menu, the footer and the sitemap. */
export const pagePaths: readonly string[] = ['/', ...products.map(productPath), '/buy-now', PRIVACY_PATH]

export const SUBSCRIBED_PATH = '/subscribed'
export const SUBSCRIPTION_PATH = '/subscription'

export const NOT_FOUND_PATH = '/404'

/** Not by a pattern, which would take quadratic time for a path of many slashes. */
export function withoutEndSlashes(path: string): string {
  let end = path.length
  while (path.charAt(end - 1) === '/') end--
  return path.slice(0, end) || '/'
}

/** The built pages contain this; the server replaces it by PUBLIC_URL when it starts. */
export const PUBLIC_URL_PLACEHOLDER = 'https://public-url.invalid'

/**
 * Browsers fetch a page when somebody points at its link, but not the visitor's own. The content security policy contains the hash
 * of this text.
 */
export const speculationRules =
  '{"prefetch":[{"where":{"and":[{"href_matches":"/*"},{"not":{"href_matches":"/your-enquiry*"}}]},"eagerness":"moderate"}]}'
