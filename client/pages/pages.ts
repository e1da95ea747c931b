import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { SUBSCRIBED_PATH, SUBSCRIPTION_PATH, withoutEndSlashes } from '../../shared/page-paths.ts'
import type { ProductContent } from '../content/product.ts'
import { homePage } from './home-page.tsx'
import type { Page } from './page.ts'
import * as plain from './plain-pages.tsx'
import { productPage } from './product-page.tsx'

const contents = Object.values(
  import.meta.glob<ProductContent>('../content/products/*.ts', { import: 'content', eager: true }),
)
const missing = products.find((name) => !contents.some(({ product }) => product === name))
if (missing) throw new Error(`${missing} has no page: client/content/products lacks a file with its content.`)

/** What the build writes, in the order of the sitemap; no browser loads this. */
export const pages: Page[] = [homePage, ...contents.map(productPage), ...Object.values(plain)].filter(
  ({ path }) => brand.newsletter || ![SUBSCRIBED_PATH, SUBSCRIPTION_PATH].includes(path),
)

export function pageAt(path: string): Page {
  return pages.find((page) => page.path === withoutEndSlashes(path)) ?? plain.notFoundPage
}
