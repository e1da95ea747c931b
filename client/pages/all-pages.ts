import { buyNowPage } from './buy-now-page.tsx'
import { homePage } from './home-page.tsx'
import { notFoundPage } from './not-found-page.tsx'
import type { Page } from './page.ts'
import { plainPath } from './plain-path.ts'
import { privacyPolicyPage } from './privacy-policy-page.tsx'
import { quvera300Page } from './quvera-300-page.tsx'
import { quveraXtPage } from './quvera-xt-page.tsx'

/** What the build writes and the dev server answers. */
export const pages: readonly Page[] = [homePage, quvera300Page, quveraXtPage, buyNowPage, privacyPolicyPage]

export function pageAt(path: string): Page {
  return pages.find((page) => page.path === plainPath(path)) ?? notFoundPage
}
