import { renderToString } from 'react-dom/server'
import type { FormOutcome } from '../shared/form-outcome.ts'
import { Footer } from './layout/footer.tsx'
import { Header } from './layout/header.tsx'
import type { Page } from './pages/page.ts'
import { pageAt } from './pages/pages.ts'

/** A built page with its body rendered again to answer a form. */
export function renderOutcome(html: string, path: string, outcome: FormOutcome): string {
  const before = html.slice(0, html.indexOf('<div id="root">'))
  const after = html.slice(html.lastIndexOf('</div>') + '</div>'.length)
  return `${before}<div id="root">${renderBody(pageAt(path), outcome)}</div>${after}`
}

export function renderBody(page: Page, outcome: FormOutcome = {}): string {
  return renderToString(<App page={page} outcome={outcome} />)
}

/** The body of a page: header, content and footer. */
function App({ page, outcome }: { page: Page; outcome: FormOutcome }) {
  const { path, ground = 'paper', content, lang, unlisted, hasBareFooter, Body } = page
  const product = content?.product
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className={`site-header on-${ground}`}>
        <Header path={path} product={product} />
      </header>
      <main id="main" lang={lang} tabIndex={-1}>
        <Body outcome={outcome} />
      </main>
      <Footer
        path={unlisted ? '/' : path}
        product={product}
        hasSubscribeForm={!hasBareFooter}
        refused={outcome.refusedSubscription}
      />
    </>
  )
}
