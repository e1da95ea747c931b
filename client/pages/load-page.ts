import { productPaths, products } from '../../shared/catalogue.ts'
import type { Page } from './page.ts'
import { plainPath } from './plain-path.ts'

const loaders: Record<string, () => Promise<Page>> = {
  '/': async () => (await import('./home-page.tsx')).homePage,
  [productPaths[products[0]]]: async () => (await import('./quvera-300-page.tsx')).quvera300Page,
  [productPaths[products[1]]]: async () => (await import('./quvera-xt-page.tsx')).quveraXtPage,
  '/buy-now': async () => (await import('./buy-now-page.tsx')).buyNowPage,
  '/privacy-policy': async () => (await import('./privacy-policy-page.tsx')).privacyPolicyPage,
}

/** The page of this document, and nothing of the others: each is a chunk of its own. */
export async function loadPage(path: string): Promise<Page> {
  const load = loaders[plainPath(path)]
  return load ? load() : (await import('./not-found-page.tsx')).notFoundPage
}
