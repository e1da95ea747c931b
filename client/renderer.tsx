import { renderToString } from 'react-dom/server'
import type { FormOutcome } from '../shared/form-outcome.ts'
import { fieldErrorsOf, goBack, uncertainWithoutScripts } from './content/sending.ts'
import { Footer } from './layout/footer.tsx'
import { Header } from './layout/header.tsx'
import type { FormAnswer, Page } from './pages/page.ts'
import { pageAt } from './pages/pages.ts'

/** A built page with its body rendered again to answer a form. */
export function renderOutcome(html: string, path: string, outcome: FormOutcome): string {
  const before = html.slice(0, html.indexOf('<div id="root">'))
  const after = html.slice(html.lastIndexOf('</div>') + '</div>'.length)
  return `${before}<div id="root">${renderBody(pageAt(path), { ...outcome, order: orderAnswer(outcome) })}</div>${after}`
}

export function renderBody(page: Page, answer: FormAnswer = {}): string {
  return renderToString(<App page={page} answer={answer} />)
}

function orderAnswer({ order }: FormOutcome) {
  if (!order) return undefined
  const { problem, values, submissionKey, isUncertain, isUnread } = order
  const note = isUnread ? goBack : isUncertain ? uncertainWithoutScripts : undefined
  return { firstError: problem.message, note, fieldErrors: fieldErrorsOf(problem), values, submissionKey }
}

/** The body of a page: header, content and footer. */
function App({ page, answer }: { page: Page; answer: FormAnswer }) {
  const { path, ground = 'paper', content, unlisted, isSubscription, Body } = page
  const product = content?.product
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className={`site-header on-${ground}`}>
        <Header path={path} product={product} />
      </header>
      <main id="main" tabIndex={-1}>
        <Body answer={answer} />
      </main>
      <Footer
        path={unlisted ? '/' : path}
        product={product}
        hasSubscribeForm={!isSubscription}
        refused={answer.refusedSubscription}
      />
    </>
  )
}
