import { renderToString } from 'react-dom/server'
import type { FormOutcome } from '../shared/form-outcome.ts'
import { App } from './app.tsx'
import { fieldMarks, uncertain } from './content/sending.ts'
import type { FormAnswer, Page } from './pages/page.ts'
import { pageAt } from './pages/pages.ts'

/** A built page with the answer to a form in the place of its content. */
export function renderOutcome(html: string, path: string, outcome: FormOutcome): string {
  const before = html.slice(0, html.indexOf('<div id="root">'))
  const after = html.slice(html.lastIndexOf('</div>') + '</div>'.length)
  return `${before}<div id="root">${renderBody(pageAt(path), answerOf(outcome))}</div>${after}`
}

export function renderBody(page: Page, answer: FormAnswer = {}): string {
  return renderToString(<App page={page} answer={answer} />)
}

function answerOf({ order, subscription, ...others }: FormOutcome): FormAnswer {
  return {
    ...others,
    ...(order && {
      order: {
        message: order.problem.message,
        note: order.uncertain && uncertain,
        marks: fieldMarks(order.problem),
        values: order.values,
        submissionKey: order.uncertain?.submissionKey,
      },
    }),
    ...(subscription && {
      subscription: { message: subscription.problem.message, email: subscription.values.email ?? '' },
    }),
  }
}
