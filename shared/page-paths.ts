import { productPath, products } from './catalogue.ts'

/** The pages with an order form. */
export const orderPaths: readonly string[] = ['/', '/buy-now']

/** Every page a visitor can look for. */
export const pagePaths: readonly string[] = ['/', ...products.map(productPath), '/buy-now', '/privacy-policy']

/** Where a form leads that was sent without scripts. */
export const RECEIVED_PATH = '/received'
export const SUBSCRIBED_PATH = '/subscribed'
/** Where the link of a subscriber leads. */
export const SUBSCRIPTION_PATH = '/subscription'

/** Of the page that answers where there is none. */
export const NOT_FOUND_PATH = '/404'

/** Without slashes at the end. A pattern would look at a run of slashes once for each of them: a long path is a second's work. */
export function withoutEndSlashes(path: string): string {
  let end = path.length
  while (path.charAt(end - 1) === '/') end--
  return path.slice(0, end) || '/'
}

/** Stands for the public address in the built pages; the server puts the real one in its place when it starts. */
export const PUBLIC_URL_PLACEHOLDER = 'https://public-url.invalid'

/** Tells browsers to fetch a page of ours as soon as somebody points at a link to it. The content security policy names its hash. */
export const speculationRules = '{"prefetch":[{"where":{"href_matches":"/*"},"eagerness":"moderate"}]}'
