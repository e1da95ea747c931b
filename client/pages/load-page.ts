import { type Product, productPath, products } from '../../shared/catalogue.ts'
import { plainPath, RECEIVED_PATH, SUBSCRIBED_PATH } from '../../shared/page-paths.ts'
import type { ProductContent } from '../content/product.ts'
import type { Page } from './page.ts'

const contents = import.meta.glob<ProductContent>('../content/products/*.ts', { import: 'content' })

const loaders: Record<string, () => Promise<Page>> = {
  '/': async () => (await import('./home-page.tsx')).homePage,
  ...Object.fromEntries(products.map((product) => [productPath(product), () => loadProductPage(product)])),
  '/buy-now': async () => (await import('./buy-now-page.tsx')).buyNowPage,
  [RECEIVED_PATH]: async () => (await import('./received-page.tsx')).receivedPage,
  [SUBSCRIBED_PATH]: async () => (await import('./subscribed-page.tsx')).subscribedPage,
  '/privacy-policy': async () => (await import('./privacy-policy-page.tsx')).privacyPolicyPage,
}

/** What the build writes and the dev server answers, beside the page for all other paths. */
export const builtPaths = Object.keys(loaders)

const ANSWERS = [RECEIVED_PATH, SUBSCRIBED_PATH]

/**
 * A page, and nothing of the others: each is a chunk of its own.
 * @param isAnswer whether the server has sent this page in answer to a form
 */
export async function loadPage(path: string, isAnswer = true): Promise<Page> {
  const isGuessed = !isAnswer && ANSWERS.includes(plainPath(path)) // by hand, so that the server has answered 404
  if (isGuessed) return (await import('./not-found-page.tsx')).notFoundPage
  const load = loaders[plainPath(path)]
  return load ? load() : (await import('./not-found-page.tsx')).notFoundPage
}

async function loadProductPage(product: Product): Promise<Page> {
  const file = product.split(' ').at(-1)?.toLowerCase()
  const loadContent = contents[`../content/products/${file}.ts`]
  if (!loadContent) throw new Error(`No ${file}.ts`)
  const [{ productPage }, content] = await Promise.all([import('./product-page.tsx'), loadContent()])
  return productPage(content)
}
