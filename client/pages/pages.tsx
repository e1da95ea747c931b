import type { ComponentType } from 'react'
import { productPaths } from '../../shared/catalogue.ts'
import { buyNow, home } from '../content/home.ts'
import { privacyPolicy } from '../content/privacy-policy.ts'
import type { Ground, ProductContent } from '../content/product.ts'
import { quvera300 } from '../content/quvera-300.ts'
import { quveraXt } from '../content/quvera-xt.ts'
import { BuyNowPage } from './buy-now-page.tsx'
import { HomePage } from './home-page.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import { PrivacyPolicyPage } from './privacy-policy-page.tsx'
import { ProductPage } from './product-page.tsx'

export interface Page {
  path: string
  title: string
  description: string
  /** The ground of the first screen, on which the header floats. */
  ground: Ground
  content?: ProductContent
  Body: ComponentType<{ page: Page }>
}

export const pages: Page[] = [
  { path: '/', title: home.title, description: home.metaDescription, ground: 'paper', Body: HomePage },
  productPage(quvera300),
  productPage(quveraXt),
  { path: '/buy-now', title: buyNow.title, description: buyNow.metaDescription, ground: 'paper', Body: BuyNowPage },
  {
    path: '/privacy-policy',
    title: privacyPolicy.title,
    description: privacyPolicy.metaDescription,
    ground: 'paper',
    Body: PrivacyPolicyPage,
  },
]

export const notFound: Page = {
  path: '/404.html',
  title: 'Page not found',
  description: 'There is no page at this address.',
  ground: 'paper',
  Body: NotFoundPage,
}

export function pageAt(path: string): Page {
  const plain = path.replace(/\/+$/, '') || '/'
  return pages.find((page) => page.path === plain) ?? notFound
}

function productPage(content: ProductContent): Page {
  return {
    path: productPaths[content.product],
    title: content.product,
    description: content.description,
    ground: content.ground,
    content,
    Body: ProductPage,
  }
}
