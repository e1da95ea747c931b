import { ErrorBoundary } from './layout/error-boundary.tsx'
import { Footer } from './layout/footer.tsx'
import { Header } from './layout/header.tsx'
import type { Page } from './pages/page.ts'

export function App({ page }: { page: Page }) {
  return (
    <ErrorBoundary>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <Header path={page.path} ground={page.ground} product={page.content?.product} />
      <main id="main" tabIndex={-1}>
        <page.Body page={page} />
      </main>
      <Footer path={page.unlisted ? '/' : page.path} product={page.content?.product} />
    </ErrorBoundary>
  )
}
