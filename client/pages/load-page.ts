import { type Product, productPath, products } from '../../shared/catalogue.ts'
import { plainPath, RECEIVED_PATH, SUBSCRIBED_PATH, SUBSCRIPTION_PATH } from '../../shared/page-paths.ts'
import type { ProductContent } from '../content/product.ts'
import type { Page } from './page.ts'

const contents = import.meta.glob<ProductContent>('../content/products/*.ts', { import: 'content' })

type Loaders = Record<string, () => Promise<Page>>

const loaders: Loaders = {
  '/': () => import('./home-page.tsx').then(({ homePage }) => homePage),
  ...Object.fromEntries(products.map((product) => [productPath(product), () => loadProductPage(product)])),
  '/buy-now': () => import('./buy-now-page.tsx').then(({ buyNowPage }) => buyNowPage),
  [SUBSCRIBED_PATH]: () => import('./subscribed-page.tsx').then(({ subscribedPage }) => subscribedPage),
  '/privacy-policy': () => import('./privacy-policy-page.tsx').then(({ privacyPolicyPage }) => privacyPolicyPage),
}

/** What the server makes of the address; asked for by hand they are what it answers then, the page for all other paths. */
const answers: Loaders = {
  [RECEIVED_PATH]: () => import('./received-page.tsx').then(({ receivedPage }) => receivedPage),
  [SUBSCRIPTION_PATH]: () => import('./subscribed-page.tsx').then(({ subscriptionPage }) => subscriptionPage),
}

/** What the build writes and the dev server answers, beside the page for all other paths. */
export const builtPaths = () => Object.keys({ ...loaders, ...answers })

/**
 * A page, and nothing of the others: each is a chunk of its own.
 * @param isAnswer whether the server has made this page of the address
 */
export async function loadPage(path: string, isAnswer = true): Promise<Page> {
  const load = loaders[plainPath(path)] ?? (isAnswer && answers[plainPath(path)])
  return load ? load() : (await import('./not-found-page.tsx')).notFoundPage
}

async function loadProductPage(product: Product): Promise<Page> {
  const file = product.split(' ').at(-1)?.toLowerCase()
  const loadContent = contents[`../content/products/${file}.ts`]
  if (!loadContent) throw new Error(`No ${file}.ts`)
  const [{ productPage }, content] = await Promise.all([import('./product-page.tsx'), loadContent()])
  return productPage(content)
}
