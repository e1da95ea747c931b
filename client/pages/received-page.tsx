import { useContext } from 'react'
import { RECEIVED_PATH } from '../../shared/page-paths.ts'
import { enquiryReceived, received } from '../content/enquiry-form.ts'
import { FormAnswerContext } from '../enquiry/form-answer.ts'
import { NextSteps, ReceivedLabel } from '../enquiry/order-received.tsx'
import type { Page } from './page.ts'

/** Follows an order that was sent without scripts. */
export const receivedPage: Page = {
  path: RECEIVED_PATH,
  title: received,
  ground: 'paper',
  unlisted: true,
  Body: ReceivedPage,
}

function ReceivedPage() {
  const { received: told = { reference: '' } } = useContext(FormAnswerContext)
  return (
    <section className="page-top wrap">
      <div className="received">
        <h1>{received}</h1>
        <p className="lead">{enquiryReceived.lead}</p>
        <ReceivedLabel {...told} />
        <NextSteps received />
        <a href="/buy-now" className="button">
          Send another enquiry
        </a>
      </div>
    </section>
  )
}
