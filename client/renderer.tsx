import { StrictMode } from 'react'
import { renderToString } from 'react-dom/server'
import type { FormOutcome } from '../shared/form-outcome.ts'
import { App } from './app.tsx'
import { uncertain } from './content/sending.ts'
import { fieldMarks } from './enquiry/field-marks.ts'
import { type FormAnswer, FormAnswerContext } from './enquiry/form-answer.ts'
import { loadPage } from './pages/load-page.ts'
import type { Page } from './pages/page.ts'

/** A built page with the answer to a form in the place of its content. */
export async function renderOutcome(html: string, path: string, outcome: FormOutcome): Promise<string> {
  const answer = answerOf(outcome)
  const before = html.slice(0, html.indexOf('<div id="root">'))
  const after = html.slice(html.lastIndexOf('</div>') + '</div>'.length)
  const data = JSON.stringify(answer).replaceAll('<', '\\u003c')
  return `${before}<div id="root">${renderBody(await loadPage(path), answer)}</div><script type="application/json" id="form-answer">${data}</script>${after}`
}

export function renderBody(page: Page, answer: FormAnswer = {}): string {
  return renderToString(
    <StrictMode>
      <FormAnswerContext value={answer}>
        <App page={page} />
      </FormAnswerContext>
    </StrictMode>,
  )
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
