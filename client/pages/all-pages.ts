import { productPath, products } from '../../shared/catalogue.ts'
import { plainPath } from '../../shared/plain-path.ts'
import type { ProductContent } from '../content/product.ts'
import { buyNowPage } from './buy-now-page.tsx'
import { homePage } from './home-page.tsx'
import { notFoundPage } from './not-found-page.tsx'
import type { Page } from './page.ts'
import { privacyPolicyPage } from './privacy-policy-page.tsx'
import { productPage } from './product-page.tsx'
import { receivedPage } from './received-page.tsx'
import { subscribedPage } from './subscribed-page.tsx'

const contents = import.meta.glob<ProductContent>('../content/products/*.ts', { eager: true, import: 'content' })
const productPages = Object.values(contents).map(productPage)

/** What the build writes and the dev server answers. */
export const pages: readonly Page[] = [
  homePage,
  ...products.flatMap((product) => productPages.filter((page) => page.path === productPath(product))),
  buyNowPage,
  privacyPolicyPage,
  receivedPage,
  subscribedPage,
]

export function pageAt(path: string): Page {
  return pages.find((page) => page.path === plainPath(path)) ?? notFoundPage
}
